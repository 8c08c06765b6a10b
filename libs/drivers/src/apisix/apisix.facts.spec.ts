import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { APISIX_FACTS, COLLECTIONS, gatewayOf } from './apisix.facts';

const { identifier } = APISIX_FACTS.resourceTypes.ROUTE!;
const { adminUrl, adminKey } = APISIX_FACTS.credentialTypes.ADMIN_KEY!.forms;
const placed = (adminUrlText: string, id = 'r1', type = 'ROUTE'): string =>
  APISIX_FACTS.resourceTypes[type]!.place({
    identifier: id,
    config: {},
    organization: 'any',
    hints: { adminUrl: adminUrlText },
  }).key;

describe('an object of a gateway', () => {
  it.each(['1', 'orders-api', 'a.b_c-D', 'x'.repeat(64), '...'])('may have the id %s', (id) => {
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
  ])('may not have the id %j', (id) => {
    expect(id).not.toMatch(identifier.pattern);
  });

  it('is one object, however its gateway is spelled', () => {
    const one = placed('https://gateway.example.com:9180');
    for (const text of [
      'https://gateway.example.com:9180/',
      'HTTPS://Gateway.Example.com:9180/apisix',
      'https://gateway.example.com:9180/apisix/admin',
      'https://gateway.example.com:9180/apisix/admin/',
      'https://gateway.example.com.:9180',
    ]) {
      expect(placed(text)).toBe(one);
    }
  });

  it('is another one on another gateway, of another kind, by another id, also by case', () => {
    const url = 'https://gateway.example.com';
    const keys = [
      placed(url),
      placed('https://other.example.com'),
      placed(`${url}:9180`),
      placed(`${url}/tenant`),
      placed(url, 'R1'),
      ...Object.keys(COLLECTIONS)
        .slice(1)
        .map((type) => placed(url, 'r1', type)),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('keeps a prefix that only begins like the Admin API', () => {
    expect(gatewayOf('http://127.0.0.1:4666/apisix-gateway')).toBe('http://127.0.0.1:4666/apisix-gateway');
  });
});

describe('a credential', () => {
  it.each(['edd1c9f034335f136f87ad84b625c8f1', '4054f7cf07e344346cd3f287985e76a2'])(
    'may not hold a key that everybody knows: %s',
    (key) => {
      expect(adminKey!.refusal!(key)).toMatch(/^must not be the key that APISIX is shipped with/);
    },
  );

  it('may hold another', () => {
    expect(adminKey!.refusal!('simulated-admin-key')).toBeNull();
  });

  it('may not lead to metadata', () => {
    expect(adminUrl!.refusal!('http://169.254.169.254/latest')).toMatch(/^must not lead to/);
  });

  it('has the settings of its gateway on its page', () => {
    const page = readFileSync(join(__dirname, '../../../../docs/providers/apisix.md'), 'utf8');
    expect(page).toContain(APISIX_FACTS.policy);
  });
});
