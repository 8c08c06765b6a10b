const DEEPEST = 20;
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Why a parsed body is refused before anybody looks at its fields: it is no object, it is nested deeper than anything
 * we take (recursion over it costs stack), or a text holds what no text column can keep: U+0000, or half of a surrogate pair.
 * @returns null when it is none of these
 */
export function jsonRefusal(body: unknown): string | null {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return 'The body must be a JSON object';
  return nestedRefusal(body, 1);
}

function nestedRefusal(value: unknown, depth: number): string | null {
  if (typeof value === 'string') return textRefusal(value);
  if (typeof value !== 'object' || value === null) return null;
  if (depth > DEEPEST) return `The body is nested deeper than ${DEEPEST} levels`;
  for (const [key, inner] of Object.entries(value)) {
    const refusal = textRefusal(key) ?? nestedRefusal(inner, depth + 1);
    if (refusal !== null) return refusal;
  }
  return null;
}

function textRefusal(text: string): string | null {
  if (text.includes('\0')) return 'Text must not contain the character U+0000';
  return LONE_SURROGATE.test(text)
    ? 'Text must be well-formed Unicode: it holds half of a surrogate pair'
    : null;
}
