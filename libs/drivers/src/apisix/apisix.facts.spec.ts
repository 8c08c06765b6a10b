import { APISIX_FACTS, COLLECTIONS, gatewayOf } from './apisix.facts';

const { identifier } = APISIX_FACTS.resourceTypes.ROUTE!;
const { adminUrl, adminKey } = APISIX_FACTS.credentialTypes.ADMIN_KEY!.forms;
const nameOf = (adminUrlText: string, id = 'r1', type = 'ROUTE'): string =>
  APISIX_FACTS.resourceTypes[type]!.nameTarget({
    identifier: id,
    config: {},
    organization: 'any',
    hints: { adminUrl: adminUrlText },
  }).key;

describe('The target of an APISIX object', () => {
  it.each(['1', 'orders-api', 'a.b_c-D', 'x'.repeat(64), '...'])('accepts the id %s', (id) => {
    expect(id).toMatch(identifier.pattern);
  });

  it.each([
    '',
    '.',
    '..',
    'a/b',
    'a b',
    '../consumers',
    'a%2fb',
    'a?ttl=1',
    'a#b',
    'é',
    'x'.repeat(65),
    'a\n',
  ])('rejects the id %j', (id) => {
    expect(id).not.toMatch(identifier.pattern);
  });

  it('is the same for every spelling of the gateway URL', () => {
    const one = nameOf('https://gateway.example.com:9180');
    for (const text of [
      'https://gateway.example.com:9180/',
      'HTTPS://Gateway.Example.com:9180/apisix',
      'https://gateway.example.com:9180/apisix/admin',
      'https://gateway.example.com:9180/apisix/admin/',
      'https://gateway.example.com.:9180',
    ]) {
      expect(nameOf(text)).toBe(one);
    }
  });

  it('differs by gateway, type and case-sensitive id', () => {
    const url = 'https://gateway.example.com';
    const keys = [
      nameOf(url),
      nameOf('https://other.example.com'),
      nameOf(`${url}:9180`),
      nameOf(`${url}/tenant`),
      nameOf(url, 'R1'),
      ...Object.keys(COLLECTIONS)
        .slice(1)
        .map((type) => nameOf(url, 'r1', type)),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('keeps a path prefix that only starts like the Admin API', () => {
    expect(gatewayOf('http://127.0.0.1:4666/apisix-gateway')).toBe('http://127.0.0.1:4666/apisix-gateway');
  });
});

describe('An APISIX credential', () => {
  it.each(['edd1c9f034335f136f87ad84b625c8f1', '4054f7cf07e344346cd3f287985e76a2'])(
    'rejects the default key %s',
    (key) => {
      expect(adminKey!.refusal!(key)).toMatch(/^must not be the key that APISIX is shipped with/);
    },
  );

  it('accepts another key', () => {
    expect(adminKey!.refusal!('simulated-admin-key')).toBeNull();
  });

  it('rejects the URL of a metadata service', () => {
    expect(adminUrl!.refusal!('http://169.254.169.254/latest')).toMatch(/^must not lead to/);
  });
});
