import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CallToken } from '../call-tokens';
import { ComputeClients } from './compute-clients';
import { readTaggedNetwork } from './firewall-mapping';
import { VpcNetwork } from './vpc-network';

const TARGET = readTaggedNetwork('projects/p/global/networks/default');

describe('Google’s clients', () => {
  let server: Server;
  let compute: ComputeClients;
  let seen: { path: string; authorization: string | undefined }[];

  beforeAll(async () => {
    server = createServer(({ url = '', headers: { authorization } }, response) => {
      const { pathname, searchParams } = new URL(url, 'http://google');
      seen.push({ path: pathname, authorization });
      const page = Number(searchParams.get('pageToken') ?? 0) + 1;
      response.end(
        JSON.stringify({ kind: 'compute#firewallList', name: 'default', nextPageToken: `${page}` }),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/below/`;
    compute = await ComputeClients.load({ GCP_COMPUTE_URL: url });
  });
  beforeEach(() => {
    seen = [];
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const networkOf = (token: string): VpcNetwork => new VpcNetwork(TARGET, new CallToken(token), compute);

  it('send each of several simultaneous calls with the token of its own tenant', async () => {
    const tokens = Array.from({ length: 10 }, (_, tenant) => `token-${tenant}`);
    await Promise.all(tokens.map((token) => networkOf(token).describe()));
    const path = '/below/compute/v1/projects/p/global/networks/default';
    const expected = tokens.map((token) => ({ path, authorization: `Bearer ${token}` }));
    expect(seen).toHaveLength(10);
    expect(seen).toEqual(expect.arrayContaining(expected));
  });

  it('are asked for a limited number of pages of a list that does not end', async () => {
    await expect(networkOf('a-token').list()).rejects.toMatchObject({ kind: 'transient' });
    expect(seen).toHaveLength(100);
  });
});
