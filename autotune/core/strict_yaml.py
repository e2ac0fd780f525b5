"""YAML, read safely and strictly: a key that a mapping has twice is a mistake, where YAML's readers let the last one win."""

from __future__ import annotations

from typing import Any

__all__ = ["load_yaml"]


def load_yaml(text: str) -> Any:
    """What ``text`` says. Raises ``yaml.YAMLError``, with the line, for what is no YAML and for a key that comes twice."""
    import yaml

    class Strict(yaml.SafeLoader):
        """Refuses twins; a key that ``<<`` brings in may be written again."""

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            seen: set[str] = set()
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                    if key.value in seen:
                        raise yaml.constructor.ConstructorError(
                            None, None, f"the key {key.value!r} comes twice", key.start_mark
                        )
                    seen.add(key.value)
            return super().construct_mapping(node, deep)

    return yaml.load(text, Strict)  # a SafeLoader
