#!/bin/sh
exec trtllm-serve "${MODEL:-digits}" --extra_llm_api_options options.yaml "$@"
