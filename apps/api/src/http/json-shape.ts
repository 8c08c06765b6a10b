const MAX_DEPTH = 20;
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Checks a parsed body before validation: it must be an object, must not be nested too deeply (recursion could exhaust
 * the stack), and its texts must be storable: no U+0000 and no lone surrogates.
 * @returns the reason of a refusal, null for a valid body
 */
export function jsonRefusal(body: unknown): string | null {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return 'The body must be a JSON object';
  return nestedRefusal(body, 1);
}

function nestedRefusal(value: unknown, depth: number): string | null {
  if (typeof value === 'string') return textRefusal(value);
  if (typeof value !== 'object' || value === null) return null;
  if (depth > MAX_DEPTH) return `The body is nested deeper than ${MAX_DEPTH} levels`;
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
