#!/bin/sh
exec tritonserver --model-repository=models "$@"
