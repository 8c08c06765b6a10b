import { randomUUID } from 'node:crypto';
import { ownOrganization } from '../../builders/accounts/organization';
import { freshAddress } from '../../builders/sessions/session-in-status';
import { ApiClient, type Answer, type Session } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';
import { containing } from '../../harness/matching';

interface Refusal {
  readonly message: string;
  readonly validationErrors?: Readonly<Record<string, string>>;
}

describe('4.2 Sessions: the addresses of POST /sessions', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const org = ownOrganization(drawbridge);

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

  it('answers with addresses in canonical text', async () => {
    const { body } = await org.start({ ipv4Address: freshAddress(), ipv6Address: '2001:DB8:0:0:0:0:0:00A' });
    expect(body.ipv6Address).toBe('2001:db8::a');
    expect(body.resourceIps.map((ip) => ip.ipAddress)).toContain('2001:db8::a');
  });

  it.each([
    ['octal', { ipv4Address: '0203.0.113.1' }],
    ['empty', { ipv4Address: '' }],
    ['a CIDR', { ipv4Address: '203.0.113.0/24' }],
    ['of the wrong family', { ipv4Address: '2001:db8::1' }],
    ['with a zone id', { ipv6Address: 'fe80::1%eth0' }],
    ['an IPv4-mapped address as IPv6', { ipv6Address: '::ffff:203.0.113.1' }],
    ['link-local', { ipv4Address: '169.254.169.254' }],
    ['multicast IPv6', { ipv6Address: 'ff02::1' }],
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

  describe('where private addresses and the proxy are not trusted', () => {
    let strict: ApiClient;

    beforeAll(async () => {
      const env = { ALLOW_PRIVATE_ADDRESSES: 'false', TRUSTED_PROXIES: '192.0.2.1/32' };
      const { port } = await drawbridge.startApi(env);
      strict = new ApiClient(`http://127.0.0.1:${port}/api/v1`).as(org.admin.identity);
    });

    it.each(['10.1.2.3', '127.0.0.1'])('refuses the private address %s with 400', async (ipv4Address) => {
      expect((await strict.post('/sessions', { ipv4Address })).status).toBe(400);
    });

    it('believes no header of a peer that is no trusted proxy, and answers 400 when nothing is given or detectable', async () => {
      const headers = { 'X-Forwarded-For': '203.0.113.1', 'X-Real-IP': '203.0.113.1' };
      const { status, body } = await strict.post<Refusal>('/sessions', {}, headers);
      expect([status, body.message]).toEqual([400, containing('ipv4Address or ipv6Address')]);
    });
  });
});
