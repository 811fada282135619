"""Other people's text, made harmless for terminals and files without losing what it says."""

import re

# C0 and C1 controls and DEL drive a terminal; the bidirectional marks and line separators make text look like other text
_OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_BLANK = re.compile(r"[\t\n\v\f\r\x85\u2028\u2029]+ *")


def whole(text: str) -> str:
    """The text as valid Unicode: half a surrogate, which JSON lets pass and UTF-8 does not, becomes U+FFFD."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def shown(text: str) -> str:
    """One line for a terminal or a table: tabs and newlines are spaces, what else a terminal obeys is spelled out."""
    return _OBEYED.sub(_spelled, _BLANK.sub(" ", whole(text)).strip())


def _spelled(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def escaped_json(text: str) -> str:
    """JSON text that says the same and is safe to `cat`: what a terminal obeys is escaped, half a surrogate becomes U+FFFD."""
    if text.isascii() and "\x7f" not in text:
        return text
    return _IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", whole(text))


def cut(text: str, width: int) -> str:
    """At most `width` characters, the last one an ellipsis where something is left out."""
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"
