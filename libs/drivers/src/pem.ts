const LINE_LENGTH = 64;

/**
 * Restores the line breaks of a private key in PEM that was copied with `\n` for each, with CRLF, between quotes, or in one
 * line. @returns the text itself when it is no such key
 */
export function repairPem(text: string): string {
  const unescaped = text.replaceAll('\\r', '').replaceAll('\\n', '\n');
  const [, label, body] =
    /^"?-----BEGIN ((?:RSA )?PRIVATE KEY)-----([\w+/=\s]+)-----END (?:RSA )?PRIVATE KEY-----\s*"?,?$/.exec(
      unescaped,
    ) ?? [];
  if (label === undefined || body === undefined) return text;
  const characters = body.replace(/\s/g, '');
  const lines = Array.from({ length: Math.ceil(characters.length / LINE_LENGTH) }, (_, index) =>
    characters.slice(index * LINE_LENGTH, (index + 1) * LINE_LENGTH),
  );
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`].join('\n');
}
