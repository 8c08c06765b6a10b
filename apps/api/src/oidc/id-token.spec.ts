import { assert, boolean, dictionary, jsonValue, property, string } from 'fast-check';
import { parseIdToken } from './id-token';

const coded = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const token = (payload: unknown, header: unknown = { alg: 'RS256', kid: 'k' }): string =>
  `${coded(header)}.${coded(payload)}.AAAA`;

describe('parseIdToken', () => {
  it('returns header and claims', () => {
    expect(parseIdToken(token({ sub: 'job', list: [1, { a: null }], text: 'a:"{}[],\\' }))).toMatchObject({
      header: { alg: 'RS256', kid: 'k' },
      claims: { sub: 'job', list: [1, { a: null }], text: 'a:"{}[],\\' },
    });
  });

  it('takes every object without a member twice', () => {
    assert(
      property(dictionary(string(), jsonValue({ maxDepth: 3 })), (payload) => {
        const parsed = parseIdToken(token(JSON.stringify(payload)));
        expect(typeof parsed === 'string' ? parsed : JSON.stringify({ ...parsed.claims })).toBe(
          JSON.stringify({ ...(JSON.parse(JSON.stringify(payload)) as object) }),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('finds a member that is there twice, wherever and however it is spelled', () => {
    assert(
      property(string({ minLength: 1 }), boolean(), boolean(), (name, isDeep, isEscaped) => {
        const escaped = isEscaped
          ? `"${[...Array(name.length).keys()].map((at) => `\\u${name.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`
          : JSON.stringify(name);
        const twice = `{${JSON.stringify(name)}:{"x":1},"":[],${escaped}:2}`;
        expect(parseIdToken(token(isDeep ? `{"a":[${twice}]}` : twice))).toMatch(/ twice$/);
      }),
    );
  });

  it('throws for no text', () => {
    assert(
      property(string(), (text) => {
        for (const one of [text, token(text), token({}, text)]) expect(() => parseIdToken(one)).not.toThrow();
      }),
    );
  });
});
