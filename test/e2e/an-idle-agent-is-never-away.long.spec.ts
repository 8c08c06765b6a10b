import { setTimeout as pause } from 'node:timers/promises';
import { guardedHost, TestAgent } from '../builders/resources/agents';
import { audited } from '../builders/accounts/people';
import { organization } from '../builders/accounts/organization';
import { ApiClient } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';

const OBSERVED_MS = 150_000;

describe('An idle agent', () => {
  const drawbridge = Drawbridge.own();

  // both at once: it waits longer than it works
  it.concurrent.each([
    ['one process', 1],
    ['two processes in turn', 2],
  ])(
    'that polls %s is never away',
    async (_, processes) => {
      const org = await organization(drawbridge, []);
      const host = await guardedHost(org, 'idle');
      await host.guardedBy(host.agent());
      const ports = [drawbridge.apiServer.port];
      if (processes > 1) ports.push((await drawbridge.startApi()).port);
      const agents = ports.map((port) => {
        const api = new ApiClient(`http://127.0.0.1:${port}/api/v1`);
        return new TestAgent(api.as({ apiKey: host.plainKey }), host.name);
      });
      const over = new AbortController();
      const polls = async (): Promise<void> => {
        for (let turn = 0; !over.signal.aborted; turn += 1) await agents[turn % agents.length]!.fetched(30);
      };
      const polled = polls();
      await pause(OBSERVED_MS);
      over.abort();
      await polled;
      expect(await audited(drawbridge, org.organizationId, 'AGENT_OFFLINE')).toEqual([]);
      expect(await audited(drawbridge, org.organizationId, 'AGENT_CONNECTED')).toHaveLength(1);
      const events = await drawbridge.query<{ type: string }>(
        `SELECT DISTINCT event_type AS type FROM resource_health_events WHERE event_type LIKE 'RECONCILE%'`,
      );
      expect(events).toEqual([{ type: 'RECONCILE_OK' }]);
    },
    300_000,
  );
});
