import { CallToken } from '../call-tokens';
import { duringTests, ScriptedServer } from '../scripted-server.testing';
import { ComputeClients } from './compute-clients';
import { readTaggedNetwork } from './firewall-mapping';
import { VpcNetwork } from './vpc-network';

const TARGET = readTaggedNetwork('projects/p/global/networks/default');

describe('Google’s clients', () => {
  const server = duringTests(
    new ScriptedServer(({ query }, response) => {
      const nextPageToken = String(Number(query.get('pageToken') ?? 0) + 1);
      response.end(JSON.stringify({ kind: 'compute#firewallList', name: 'default', nextPageToken }));
    }),
  );
  let compute: ComputeClients;
  beforeAll(async () => {
    compute = await ComputeClients.load({ GCP_COMPUTE_URL: `${server.url}/below/` });
  });

  const networkOf = (token: string): VpcNetwork => new VpcNetwork(TARGET, new CallToken(token), compute);

  it('send each of several simultaneous calls with the token of its own tenant', async () => {
    const tokens = Array.from({ length: 10 }, (_, tenant) => `token-${tenant}`);
    await Promise.all(tokens.map((token) => networkOf(token).describe()));
    const path = '/below/compute/v1/projects/p/global/networks/default';
    expect(server.calls.map((call) => `${call.path} ${call.headers.authorization}`).toSorted()).toEqual(
      tokens.map((token) => `${path} Bearer ${token}`),
    );
  });

  it('are asked for a limited number of pages of a list that does not end', async () => {
    await expect(networkOf('a-token').list()).rejects.toMatchObject({ kind: 'transient' });
    expect(server.calls).toHaveLength(100);
  });
});
