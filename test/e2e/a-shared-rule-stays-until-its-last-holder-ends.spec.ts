import { group, organization, sshTo } from '../builders/accounts/organization';
import { staticIpRule } from '../builders/resources/static-ip-rules';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

describe('A shared rule stays until its last holder ends', () => {
  const drawbridge = Drawbridge.shared();

  const isOpen = async (target: string, address: string): Promise<boolean> =>
    (await drawbridge.cloud.rules(target)).some((rule) => rule.address === address);

  it('the first to stop does not wait for a cloud that is down', async () => {
    const org = await organization(drawbridge, sshTo([1]));
    const first = await org.opened({ ipv4Address: '203.0.113.21', holder: 'a' });
    await org.opened({ ipv4Address: '203.0.113.21', holder: 'b' });
    await drawbridge.cloud.fault({ kind: 'error', target: group(1), seconds: 60 });
    expect((await org.closed(first.id)).endedReason).toBe('MANUAL');
    await drawbridge.cloud.clearFaults();
    expect(await isOpen(group(1), '203.0.113.21')).toBe(true);
  });

  it('two resources that name one group share its rules, whatever case they are written in', async () => {
    const org = await organization(drawbridge, [
      { group: group(2), config: { port: 22 } },
      { group: group(2).toUpperCase().replace('SG', 'sg'), config: { ports: [22, 443] } },
    ]);
    const [one, other] = org.resourceIds;
    await org.opened({ ipv4Address: '203.0.113.22', holder: 'a', resourceIds: [one] });
    const second = await org.opened({ ipv4Address: '203.0.113.22', holder: 'b', resourceIds: [other] });
    expect(
      (await drawbridge.cloud.rules(group(2))).map((rule) => rule.fromPort).toSorted((a, b) => a - b),
    ).toEqual([22, 443]);
    await org.closed(second.id);
    expect((await drawbridge.cloud.rules(group(2))).map((rule) => rule.fromPort)).toEqual([22]);
  });

  it('two organizations that name one group share its rule, and neither sees the other', async () => {
    const [mine, theirs] = [
      await organization(drawbridge, sshTo([3])),
      await organization(drawbridge, sshTo([3])),
    ];
    const first = await mine.opened({ ipv4Address: '203.0.113.23' });
    const second = await theirs.opened({ ipv4Address: '203.0.113.23' });
    expect(await drawbridge.cloud.rules(group(3))).toHaveLength(1);
    expect((await theirs.admin.get(`/sessions/${first.id}`)).status).toBe(404);
    expect((await theirs.admin.post(`/sessions/admin/${first.id}/stop`)).status).toBe(404);

    await mine.closed(first.id);
    expect(await isOpen(group(3), '203.0.113.23')).toBe(true);
    await theirs.closed(second.id);
    expect(await isOpen(group(3), '203.0.113.23')).toBe(false);
  });

  it('the organization whose credential opened it can delete that credential while another one holds it', async () => {
    const plans = sshTo([6]);
    const [writer, holder] = [await organization(drawbridge, plans), await organization(drawbridge, plans)];
    const ipv4Address = '203.0.113.50';
    const first = await writer.opened({ ipv4Address });
    const second = await holder.opened({ ipv4Address });
    await writer.closed(first.id);
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
    await holder.closed(second.id);
    expect(await isOpen(group(6), ipv4Address)).toBe(false);
  });

  it('a credential that cannot read the group opens nothing there, not even what another organization has open', async () => {
    const mine = await organization(drawbridge, sshTo([4]));
    const theirs = await organization(drawbridge, sshTo([4]));
    const held = await mine.opened({ ipv4Address: '203.0.113.24' });
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

    await mine.closed(held.id);
    expect(await isOpen(group(4), '203.0.113.24')).toBe(false);
  });

  it.each([
    ['session', '203.0.113.40'],
    ['static IP rule', '203.0.113.41'],
  ])('of a session and a static IP rule the %s ends first', async (first, address) => {
    const org = await organization(drawbridge, sshTo([5]));
    const rule = await staticIpRule(org, { ipAddress: address });
    const session = await org.opened({ ipv4Address: address });
    const ends = [
      () => org.closed(session.id),
      () => org.admin.expect(204, org.admin.delete(`/static-ip-rules/${rule.id}`)),
    ];
    const [sooner, later] = first === 'session' ? ends : ends.toReversed();
    await sooner!();
    await org.admin.posted(`/resources/${org.resourceIds[0]}/reconcile`);
    expect(await isOpen(group(5), address)).toBe(true);
    await later!();
    await until('it is closed', async () => !(await isOpen(group(5), address)));
    const events = (await drawbridge.cloud.timeline()).filter((entry) => entry.address === address);
    expect(events.map(({ event }) => event)).toEqual(['opened', 'closed']);
  });
});
