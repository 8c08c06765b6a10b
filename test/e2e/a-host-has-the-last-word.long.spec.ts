import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { LoneHost } from '../builders/resources/lone-host';
import { ownOrganization } from '../builders/accounts/organization';
import type { AgentProcess } from '../harness/product/agent-process';
import { Drawbridge } from '../harness/product/drawbridge';
import { hasNetworks, sayNotTested, VISITOR } from '../harness/network/network';
import { until } from '../harness/until';

interface HostGuard {
  readonly waiting: readonly unknown[];
  readonly wouldCut: readonly unknown[];
}

const onNetworks = hasNetworks ? describe : describe.skip;
if (!hasNetworks) sayNotTested('that a host limits what its server decides');

/** Nobody is locked out: what the host's own configuration says counts, and open connections are not cut unasked. */
onNetworks('A host has the last word', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge, []);
  const lone = LoneHost.forEachTest(drawbridge, org, 'word');

  const guardPath = (): string => `/resources/${lone.host.resourceId}/guard`;
  const port = (): string => `tcp/${lone.place.port}`;
  const other = (): { address: string; port: number; from: string } => ({
    ...lone.place,
    from: VISITOR.otherIpv4,
  });

  /** Serves, and verifies the resource: the server wants its port guarded. */
  const verified = async (...args: string[]): Promise<AgentProcess> => {
    const agent = lone.serve({ args });
    await until('the resource is verified', async () => (await lone.host.verify()).status === 200);
    return agent;
  };

  describe('a new guard that would cut a connection', () => {
    it('waits, and an operator on the host confirms', async () => {
      const connection = await lone.network.visitor.hold(lone.place);
      const agent = await verified();
      await agent.says(
        `Not guarded yet: tcp ${lone.place.port}. It would cut the connection of ${VISITOR.ipv4}`,
      );
      expect(await lone.network.visitor.answers(connection)).toBe(true);
      expect((await lone.run('--status')).output).toContain(`before it is confirmed: tcp ${lone.place.port}`);
      expect(await lone.run('confirm', 'udp/1')).toMatchObject({ code: 1 });
      const confirmed = `Confirmed, guarded from now on: tcp ${lone.place.port}`;
      expect(await lone.run('confirm')).toEqual({ code: 0, output: confirmed });
      await lone.closes();
      expect(await lone.network.visitor.answers(connection)).toBe(false);
    });

    it('is shown by the API before the resource is verified, and confirmed there', async () => {
      const connection = await lone.network.visitor.hold(lone.place);
      const agent = lone.serve();
      const cut = { address: VISITOR.ipv4, protocol: 'tcp', port: lone.place.port };
      await until('the API shows what it would cut', async () => {
        const { wouldCut } = await org.admin.expect(200, org.admin.get<HostGuard>(guardPath()));
        return isDeepStrictEqual(wouldCut, [cut]);
      });
      expect(agent.output).not.toContain('Guarded from now on');
      await until('it is verified', async () => (await lone.host.verify()).status === 200);
      await agent.says('Not guarded yet');
      await until('it waits', async () => {
        const { waiting } = await org.admin.expect(200, org.admin.get<HostGuard>(guardPath()));
        return waiting.length === 1;
      });
      await org.admin.posted(`/resources/${lone.host.resourceId}/confirm-guard`);
      await lone.closes();
      expect(await lone.network.visitor.answers(connection)).toBe(false);
    });

    it('is not loaded after a restart of the machine either', async () => {
      await lone.network.visitor.hold(lone.place);
      const agent = await verified();
      await agent.says('Not guarded yet');
      await agent.stop('SIGKILL');
      expect((await lone.run('--restore')).code).toBe(0);
      expect(await lone.isOpen()).toBe(true);
    });

    it('is announced by a dry run to the caller whose own connection it is', async () => {
      const setting = {
        key: lone.host.plainKey,
        env: { SSH_CONNECTION: `${VISITOR.ipv4} 5 ${lone.place.address} ${lone.place.port}` },
      };
      const { output, code } = await lone.runConnected(setting, '--dry-run');
      expect(code).toBe(0);
      expect(output).toContain(
        `YOUR OWN CONNECTION from ${VISITOR.ipv4} to tcp ${lone.place.port} would be cut`,
      );
    });
  });

  describe('by its configuration', () => {
    it('--never keeps a port open, and the session says why it is not in force', async () => {
      const agent = await verified('--never', port());
      await agent.says('this host never guards it (--never)');
      expect(await lone.isOpen()).toBe(true);
      const { id } = await lone.start();
      const failed = await org.reaches(id, 'FAILED');
      expect(JSON.stringify(failed)).toContain('--never');
    });

    it('--only reduces a resource of the whole host to one port', async () => {
      const free = await lone.network.host.listen();
      await org.admin.expect(200, org.admin.patch(`/resources/${lone.host.resourceId}`, { config: {} }));
      await verified('--only', port());
      await lone.closes();
      expect(await lone.network.visitor.reaches({ ...lone.place, port: free })).toBe(true);
      await lone.active();
      expect(await lone.isOpen()).toBe(true);
      expect(await lone.network.visitor.reaches(other())).toBe(false);
    });

    it('is read from a file, and one setting with an error costs no other at boot', async () => {
      const agent = await lone.served();
      await agent.stop('SIGKILL');
      lone.network.nft('delete', 'table', 'inet', 'drawbridge');
      const config = join(lone.network.folder, 'environment');
      writeFileSync(config, `DRAWBRIDGE_ONLY=ssh\nDRAWBRIDGE_ALWAYS_ALLOW=${VISITOR.otherIpv4}\n`, {
        mode: 0o644,
      });
      const { code, output } = await lone.run('--restore', '--config', config);
      expect({ code, output }).toEqual({
        code: 1,
        output: expect.stringContaining('Left out: --only') as string,
      });
      expect([await lone.isOpen(), await lone.network.visitor.reaches(other())]).toEqual([false, true]);
    });
  });

  it('a service that sends datagrams by itself does not let former visitors in', async () => {
    const udp = await lone.network.host.listenUdp(5300);
    await org.admin.expect(
      200,
      org.admin.patch(`/resources/${lone.host.resourceId}`, { config: { port: udp, protocol: 'udp' } }),
    );
    await verified();
    const place = { ...lone.place, port: udp };
    await until('it is guarded', async () => !(await lone.network.visitor.reachesUdp(place)));
    await lone.network.host.sendUdp(udp, { address: VISITOR.ipv4, port: 40_000 });
    expect(await lone.network.visitor.reachesUdp({ ...place, fromPort: 40_000 })).toBe(false);
  });
});
