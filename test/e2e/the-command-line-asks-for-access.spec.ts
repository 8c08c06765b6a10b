import { administrator, asks, REASON, type AccessRequest } from '../builders/requests/access-requests';
import { CLI_ADDRESS, CliBench } from '../builders/programs/cli-bench';
import type { Colleague } from '../builders/accounts/colleague';
import { PASSWORD } from '../builders/accounts/people';
import { CommandLine, type Run } from '../harness/product/command-line';
import { until } from '../harness/until';

const STAYS = [process.execPath, '-e', 'console.log("in"); setInterval(() => {}, 1000)'];

/** The bench's machine asks as the administrator of its organization, and another one decides. */
describe('The command line asks for access that needs approval, and waits for it', () => {
  const bench = CliBench.own();
  let other: Colleague;
  let otherToken: string;

  beforeAll(async () => {
    await asks(bench.org, { approvals: 1, requireReason: true, reasonPattern: 'INC-*' });
    other = await administrator(bench.org);
    otherToken = await bench.org.plainKey(['sessions:read'], { userId: other.id });
  });

  const running = (...args: readonly string[]): Run =>
    bench.cli.start(['run', '--reason', REASON, '--ticket', 'INC-12', ...args, '--', ...STAYS]);
  /** The newest that the bench's machine has asked for. */
  const requested = async (): Promise<AccessRequest> =>
    (await bench.cli.json<{ requests: AccessRequest[] }>('requests')).requests[0]!;
  const decides = (action: string, { id }: { id: string }, note: string): Promise<AccessRequest> =>
    other.client.posted<AccessRequest>(`/access-requests/${id}/${action}`, { note });

  it('run says what it waits for, and is in after the approval', async () => {
    const going = running();
    await going.prints('waits for an approval by other administrators, until');
    const request = await requested();
    expect(going.stderr).toContain(`drawbridge approve ${request.id.slice(0, 8)}; Ctrl-C cancels it`);
    expect([going.stdout, await bench.live()]).toEqual(['', []]);
    await decides('approve', request, 'For an hour');
    await going.prints('in\n');
    expect(going.stderr).toContain(`approved by ${other.email}: For an hour`);
    await bench.allows(CLI_ADDRESS);
    const [live] = await bench.live();
    expect(live).toMatchObject({ status: 'ACTIVE', ticket: 'INC-12', accessRequestId: request.id });
  });

  it('Ctrl-C cancels what was asked for', async () => {
    const going = running();
    await going.prints('waits for an approval');
    going.child.kill('SIGINT');
    expect(await going.ended).toMatchObject({ code: 130, stdout: '' });
    expect(await requested()).toMatchObject({ status: 'CANCELLED' });
    const started = bench.cli.start('start --reason INC-13');
    await started.prints('waits for an approval');
    started.child.kill('SIGINT');
    expect((await started.ended).code).toBe(130);
    expect(await requested()).toMatchObject({ status: 'CANCELLED' });
  });

  it('a denial ends it, and says who and why', async () => {
    const going = running('--hours', '2');
    await going.prints('waits for an approval');
    const request = await requested();
    expect(request).toMatchObject({ durationHours: 2, ipv4Address: CLI_ADDRESS });
    await decides('deny', request, 'Not today');
    expect((await going.ended).code).toBe(5);
    expect(going.stderr).toContain(`The access request is DENIED by ${other.email}: Not today`);
  });

  it('who decides reads who has, how many are needed and why; a list cuts what is long', async () => {
    await asks(bench.org, { approvals: 2 });
    const email = 'ada@example.com';
    await bench.org.admin.created('/users', { email, password: PASSWORD, isOrgAdmin: true });
    const ada = new CommandLine();
    const signIn = `login --url ${bench.proxy.url} --email ${email} --password-stdin`;
    expect((await ada.run(signIn, `${PASSWORD}\n`)).code).toBe(0);
    const going = bench.cli.start(['start', '--reason', `INC-16: ${'x'.repeat(100)}`]);
    await going.prints('waits for 2 approvals');
    await asks(bench.org, { approvals: 1 });
    const request = await requested();
    await decides('approve', request, 'Fine');
    const waiting = await ada.run('requests --decide');
    expect(waiting.stdout).toMatch(/ WAITING \(1 of 2\) .* INC-16: x{51}…  /);
    expect(waiting.stdout).toContain(`${other.email}: Fine`);
    const denied = await ada.run(['deny', request.id.slice(0, 8), '--note', 'Not now']);
    const lines = [`  approved by ${other.email}: Fine`, `  denied by ${email}: Not now`];
    expect(denied.stdout).toContain(lines.join('\n'));
    expect((await going.ended).code).toBe(5);
    expect((await bench.cli.run('requests')).stdout).toMatch(/ DENIED .* ada@example\.com: Not now/);
    await ada.remove();
  });

  it('without a reason nothing is asked, and a reason that is not like the pattern is refused on its option', async () => {
    const none = await bench.cli.run('start');
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('Fix: add --reason TEXT')]);
    const unlike = await bench.cli.run('start --reason disk');
    expect([unlike.code, unlike.stderr]).toEqual([2, expect.stringContaining('must be like INC-*')]);
    await asks(bench.org, { requireReason: false, reasonPattern: null });
    const unasked = await bench.cli.run('start');
    const asking = expect.stringMatching(/ask with --reason TEXT\n {2}Fix: add --reason TEXT/) as string;
    expect([unasked.code, unasked.stderr]).toEqual([5, asking]);
  });

  it('watch asks again for another address, and keeps the first meanwhile', async () => {
    const going = bench.cli.start('watch --reason INC-14 --interval 1');
    await going.prints('waits for an approval');
    await decides('approve', await requested(), 'Here');
    await going.prints(`access is held for ${CLI_ADDRESS}`);
    const moved = '198.51.100.77';
    bench.proxy.addresses = [moved];
    await until('it asks again', () =>
      Promise.resolve(going.stderr.split('waits for an approval').length > 2),
    );
    await bench.allows(CLI_ADDRESS);
    await decides('approve', await requested(), 'There');
    await going.prints(`access for ${moved}`);
    await bench.allows(moved);
    expect((await bench.live()).map(({ ipv4Address }) => ipv4Address)).toEqual([moved]);
  });

  it('only a person decides, and the list says so', async () => {
    const { code, stderr } = await bench.cli.run('requests --decide', '', { DRAWBRIDGE_API_KEY: otherToken });
    expect([code, stderr]).toEqual([5, expect.stringContaining('Only a signed-in person decides')]);
  });
});
