#!/bin/sh
exec vllm serve --config vllm.yaml "$@"
