import { randomUUID } from 'node:crypto';
import { group, organization, type Organization } from '../../builders/accounts/organization';
import { freshAddress } from '../../builders/sessions/session-in-status';
import type { Answer, Session } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

interface Refusal {
  readonly message: string;
  readonly validationErrors?: Readonly<Record<string, string>>;
}

describe('4.2 Sessions: the addresses of POST /sessions', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  let org: Organization;

  beforeAll(async () => {
    org = await organization(drawbridge, [{ group: group(0), config: { port: 22 } }]);
  });

  const startFrom = (headers: Record<string, string>, body: object = {}): Promise<Answer<Session>> =>
    org.admin.post<Session>('/sessions', { holder: randomUUID(), ...body }, headers);
  const refusal = async (body: object): Promise<Answer<Refusal>> =>
    org.admin.post<Refusal>('/sessions', body);

  it('needs no field at all: the address is the remote address', async () => {
    expect((await startFrom({})).body).toMatchObject({ ipv4Address: '127.0.0.1', ipv6Address: null });
  });

  it('detects the address in X-Forwarded-For, from the right to the first that is no trusted proxy', async () => {
    const headers = { 'X-Forwarded-For': '198.51.100.1, 203.0.113.200, 127.0.0.7' };
    expect((await startFrom(headers)).body.ipv4Address).toBe('203.0.113.200');
  });

  it('detects the address in X-Real-IP', async () => {
    expect((await startFrom({ 'X-Real-IP': '203.0.113.201' })).body.ipv4Address).toBe('203.0.113.201');
  });

  it('detects the IPv6 address of a request that arrives over IPv6, and no IPv4 address then', async () => {
    const { body } = await startFrom({ 'X-Forwarded-For': '2001:DB8::0:7' });
    expect(body).toMatchObject({ ipv4Address: null, ipv6Address: '2001:db8::7' });
  });

  it('detects an omitted family on its own when the other is given', async () => {
    const { body } = await startFrom({ 'X-Forwarded-For': '203.0.113.202' }, { ipv6Address: '2001:db8::8' });
    expect(body).toMatchObject({ ipv4Address: '203.0.113.202', ipv6Address: '2001:db8::8' });
  });

  it('reads a detected IPv4-mapped IPv6 address as its IPv4', async () => {
    const { body } = await startFrom({ 'X-Forwarded-For': '::ffff:203.0.113.203' });
    expect(body).toMatchObject({ ipv4Address: '203.0.113.203', ipv6Address: null });
  });

  it('answers with addresses in canonical text', async () => {
    const { body } = await org.start({ ipv4Address: freshAddress(), ipv6Address: '2001:DB8:0:0:0:0:0:00A' });
    expect(body.ipv6Address).toBe('2001:db8::a');
    expect(body.resourceIps.map((ip) => ip.ipAddress)).toContain('2001:db8::a');
  });

  it.each([
    ['octal', { ipv4Address: '0203.0.113.1' }],
    ['hexadecimal', { ipv4Address: '0xcb.0.113.1' }],
    ['short', { ipv4Address: '203.0.1' }],
    ['an integer', { ipv4Address: '3405803777' }],
    ['no string', { ipv4Address: 7 }],
    ['empty', { ipv4Address: '' }],
    ['a CIDR', { ipv4Address: '203.0.113.0/24' }],
    ['of the wrong family', { ipv4Address: '2001:db8::1' }],
    ['with a zone id', { ipv6Address: 'fe80::1%eth0' }],
    ['an IPv4 address as IPv6', { ipv6Address: '203.0.113.1' }],
    ['an IPv4-mapped address as IPv6', { ipv6Address: '::ffff:203.0.113.1' }],
    ['unspecified', { ipv4Address: '0.0.0.0' }],
    ['multicast', { ipv4Address: '224.0.0.1' }],
    ['broadcast', { ipv4Address: '255.255.255.255' }],
    ['link-local', { ipv4Address: '169.254.169.254' }],
    ['unspecified IPv6', { ipv6Address: '::' }],
    ['multicast IPv6', { ipv6Address: 'ff02::1' }],
    ['link-local IPv6', { ipv6Address: 'fe80::1' }],
  ])('refuses with 400 an address that is %s, naming the field', async (_, body) => {
    const [field] = Object.keys(body);
    const { status, body: told } = await refusal(body);
    expect({ status, fields: Object.keys(told.validationErrors ?? {}) }).toEqual({
      status: 400,
      fields: [field],
    });
    expect(told.message).toContain(field);
  });

  it.each(['10.1.2.3', '127.0.0.9', '192.0.2.9'])(
    'allows the private, loopback or documentation address %s',
    async (ipv4Address) => {
      expect((await org.start({ ipv4Address })).status).toBe(200);
    },
  );

  it('marks in the audit trail an address that was given and is not the caller’s', async () => {
    const marked = async (body: object): Promise<unknown> => {
      const { id } = (await startFrom({ 'X-Forwarded-For': '203.0.113.204' }, body)).body;
      const [record] = await drawbridge.query<{ differs: unknown }>(
        `SELECT details->'addressDiffersFromCaller' AS differs FROM audit_records
         WHERE resource_id = $1 AND event_type = 'SESSION_STARTED'`,
        [id],
      );
      return record?.differs;
    };
    expect(await marked({ ipv4Address: freshAddress() })).toBe(true);
    expect(await marked({ ipv6Address: '2001:db8::99' })).toBe(true);
    expect(await marked({ ipv4Address: '203.0.113.204' })).toBeNull();
    expect(await marked({})).toBeNull();
  });
});

describe('4.2 Sessions: POST /sessions where private addresses and the proxy are not trusted', () => {
  const drawbridge = Drawbridge.own({
    worker: false,
    api: { ALLOW_PRIVATE_ADDRESSES: 'false', TRUSTED_PROXIES: '192.0.2.1/32' },
  });
  let org: Organization;

  beforeAll(async () => {
    org = await organization(drawbridge);
  });

  it.each(['10.1.2.3', '127.0.0.1', '192.168.0.1'])(
    'refuses the private address %s with 400',
    async (ipv4Address) => {
      expect((await org.start({ ipv4Address })).status).toBe(400);
    },
  );

  it('believes no header of a peer that is no trusted proxy, and answers 400 when nothing is given or detectable', async () => {
    const headers = { 'X-Forwarded-For': '203.0.113.1', 'X-Real-IP': '203.0.113.1' };
    const { status, body } = await org.admin.post<Refusal>('/sessions', {}, headers);
    expect(status).toBe(400);
    expect(body.message).toContain('ipv4Address or ipv6Address');
  });
});
