import { group, organization, ownOrganization, type Organization } from '../builders/accounts/organization';
import { staticIpRule, staticIpRuleReaches } from '../builders/resources/static-ip-rules';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

describe('A shared rule stays until its last holder ends', () => {
  const drawbridge = Drawbridge.shared();

  const isOpen = async (target: string, address: string): Promise<boolean> =>
    (await drawbridge.cloud.rules(target)).some((rule) => rule.address === address);

  const stop = async (org: Organization, id: string): Promise<void> => {
    await org.admin.posted(`/sessions/${id}/stop`);
  };

  it('two sessions of one organization hold one rule: the first to stop is CANCELLED at once, the rule stays', async () => {
    const org = await organization(drawbridge, [{ group: group(0), config: { port: 22 } }]);
    const first = await org.started({ ipv4Address: '203.0.113.20', holder: 'a' });
    const second = await org.started({ ipv4Address: '203.0.113.20', holder: 'b' });
    await Promise.all([org.reaches(first.id, 'ACTIVE'), org.reaches(second.id, 'ACTIVE')]);
    expect(await drawbridge.cloud.rules(group(0))).toHaveLength(1);

    await stop(org, first.id);
    await org.reaches(first.id, 'CANCELLED');
    expect(await isOpen(group(0), '203.0.113.20')).toBe(true);

    await stop(org, second.id);
    await org.reaches(second.id, 'CANCELLED');
    expect(await isOpen(group(0), '203.0.113.20')).toBe(false);
  });

  it('the first to stop does not wait for a cloud that is down', async () => {
    const org = await organization(drawbridge, [{ group: group(1), config: { port: 22 } }]);
    const first = await org.started({ ipv4Address: '203.0.113.21', holder: 'a' });
    const second = await org.started({ ipv4Address: '203.0.113.21', holder: 'b' });
    await Promise.all([org.reaches(first.id, 'ACTIVE'), org.reaches(second.id, 'ACTIVE')]);
    await drawbridge.cloud.fault({ kind: 'error', target: group(1), seconds: 60 });
    await stop(org, first.id);
    await org.reaches(first.id, 'CANCELLED');
    await drawbridge.cloud.clearFaults();
  });

  it('two resources that name one group share its rules, whatever case they are written in', async () => {
    const org = await organization(drawbridge, [
      { group: group(2), config: { port: 22 } },
      { group: group(2).toUpperCase().replace('SG', 'sg'), config: { ports: [22, 443] } },
    ]);
    const [one, other] = org.resourceIds;
    const first = await org.started({ ipv4Address: '203.0.113.22', holder: 'a', resourceIds: [one] });
    const second = await org.started({ ipv4Address: '203.0.113.22', holder: 'b', resourceIds: [other] });
    await Promise.all([org.reaches(first.id, 'ACTIVE'), org.reaches(second.id, 'ACTIVE')]);
    expect(
      (await drawbridge.cloud.rules(group(2))).map((rule) => rule.fromPort).toSorted((a, b) => a - b),
    ).toEqual([22, 443]);
    await stop(org, second.id);
    await org.reaches(second.id, 'CANCELLED');
    expect((await drawbridge.cloud.rules(group(2))).map((rule) => rule.fromPort)).toEqual([22]);
  });

  it('two organizations that name one group share its rule, and neither sees the other', async () => {
    const [mine, theirs] = await Promise.all([
      organization(drawbridge, [{ group: group(3), config: { port: 22 } }]),
      organization(drawbridge, [{ group: group(3), config: { port: 22 } }]),
    ]);
    const first = await mine.started({ ipv4Address: '203.0.113.23' });
    const second = await theirs.started({ ipv4Address: '203.0.113.23' });
    await Promise.all([mine.reaches(first.id, 'ACTIVE'), theirs.reaches(second.id, 'ACTIVE')]);
    expect(await drawbridge.cloud.rules(group(3))).toHaveLength(1);
    expect((await theirs.admin.get(`/sessions/${first.id}`)).status).toBe(404);
    expect((await theirs.admin.post(`/sessions/admin/${first.id}/stop`)).status).toBe(404);

    await stop(mine, first.id);
    await mine.reaches(first.id, 'CANCELLED');
    expect(await isOpen(group(3), '203.0.113.23')).toBe(true);
    await stop(theirs, second.id);
    await theirs.reaches(second.id, 'CANCELLED');
    expect(await isOpen(group(3), '203.0.113.23')).toBe(false);
  });

  it('the organization whose credential opened it can delete that credential while another one holds it', async () => {
    const plans = [{ group: group(6), config: { port: 22 } }];
    const [writer, holder] = [await organization(drawbridge, plans), await organization(drawbridge, plans)];
    const ipv4Address = '203.0.113.50';
    const first = await writer.started({ ipv4Address });
    await writer.reaches(first.id, 'ACTIVE');
    const second = await holder.started({ ipv4Address });
    await holder.reaches(second.id, 'ACTIVE');
    await stop(writer, first.id);
    await writer.reaches(first.id, 'CANCELLED');
    await writer.admin.expect(204, writer.admin.delete(`/resources/${writer.resourceIds[0]}`));
    await writer.admin.expect(204, writer.admin.delete(`/credentials/${writer.credentialId}`));
    // a worker looks for deleted credentials when it starts to sweep, then once a minute
    await drawbridge.worker.stop();
    await drawbridge.startWorker();
    await until('the rule is the other organization’s', async () => {
      const written = await drawbridge.query('SELECT FROM rules WHERE credential_id = $1', [
        writer.credentialId,
      ]);
      return written.length === 0;
    });
    expect(await isOpen(group(6), ipv4Address)).toBe(true);
    await stop(holder, second.id);
    await holder.reaches(second.id, 'CANCELLED');
    expect(await isOpen(group(6), ipv4Address)).toBe(false);
  });

  it('a credential that cannot read the group opens nothing there, not even what another organization has open', async () => {
    const mine = await organization(drawbridge, [{ group: group(4), config: { port: 22 } }]);
    const theirs = await organization(drawbridge, [{ group: group(4), config: { port: 22 } }]);
    const held = await mine.started({ ipv4Address: '203.0.113.24' });
    await mine.reaches(held.id, 'ACTIVE');
    const wrong = await theirs.admin.created<{ id: string }>('/credentials', {
      name: 'Wrong secret',
      provider: 'AWS',
      credentialType: 'ACCESS_KEY',
      credentialData: { accessKeyId: 'AKIASIMULATED0000001', secretAccessKey: 'guessed' },
    });
    await drawbridge.query('UPDATE resources SET credential_id = $2 WHERE id = $1', [
      theirs.resourceIds[0],
      wrong.id,
    ]);
    const tried = await theirs.started({ ipv4Address: '203.0.113.24' });
    const failed = await theirs.reaches(tried.id, 'FAILED');
    expect(failed.resourceIps[0]).toMatchObject({ status: 'FAILED', providerRuleId: null });
    expect(failed.resourceIps[0]!.errorMessage).toMatch(/AuthFailure|signature|credentials/i);

    await stop(mine, held.id);
    await mine.reaches(held.id, 'CANCELLED');
    expect(await isOpen(group(4), '203.0.113.24')).toBe(false);
  });

  describe('held by a static IP rule', () => {
    let org: Organization;
    const other = ownOrganization(drawbridge, [{ group: group(5), config: { port: 22 } }]);

    beforeAll(async () => {
      org = await organization(drawbridge, [{ group: group(5), config: { port: 22 } }]);
    });

    it('stays open when a session on the same address ends', async () => {
      const rule = await staticIpRule(org, { ipAddress: '203.0.113.40' });
      await staticIpRuleReaches(org, rule.id, 'ACTIVE');
      const session = await org.started({ ipv4Address: '203.0.113.40', resourceIds: [org.resourceIds[0]] });
      await org.reaches(session.id, 'ACTIVE');
      await stop(org, session.id);
      await org.reaches(session.id, 'CANCELLED');
      expect(await isOpen(group(5), '203.0.113.40')).toBe(true);
    });

    it('stays open until the session ends when the static IP rule is deleted first', async () => {
      const rule = await staticIpRule(org, { ipAddress: '203.0.113.41' });
      const session = await org.started({ ipv4Address: '203.0.113.41', resourceIds: [org.resourceIds[0]] });
      await org.reaches(session.id, 'ACTIVE');
      await org.admin.expect(204, org.admin.delete(`/static-ip-rules/${rule.id}`));
      await until('its row is gone', async () => {
        const rows = await drawbridge.query('SELECT 1 FROM static_ip_rules WHERE id = $1', [rule.id]);
        return rows.length === 0;
      });
      expect(await isOpen(group(5), '203.0.113.41')).toBe(true);
      await stop(org, session.id);
      await org.reaches(session.id, 'CANCELLED');
      expect(await isOpen(group(5), '203.0.113.41')).toBe(false);
    });

    it('stays open when another organization holds it with a static IP rule of its own', async () => {
      const [ours, theirs] = await Promise.all([
        staticIpRule(org, { ipAddress: '203.0.113.42' }),
        staticIpRule(other, { ipAddress: '203.0.113.42' }),
      ]);
      await staticIpRuleReaches(org, ours.id, 'ACTIVE');
      await staticIpRuleReaches(other, theirs.id, 'ACTIVE');
      await org.admin.expect(204, org.admin.delete(`/static-ip-rules/${ours.id}`));
      await until('its row is gone', async () => {
        const rows = await drawbridge.query('SELECT 1 FROM static_ip_rules WHERE id = $1', [ours.id]);
        return rows.length === 0;
      });
      expect(await isOpen(group(5), '203.0.113.42')).toBe(true);
      expect(
        (await drawbridge.cloud.timeline()).filter((entry) => entry.address === '203.0.113.42'),
      ).toHaveLength(1);
    });
  });
});
