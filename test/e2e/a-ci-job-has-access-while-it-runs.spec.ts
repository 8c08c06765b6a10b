import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { ActionBench, JOB_ADDRESS } from '../builders/programs/action-bench';
import { githubTrust, jobClaims } from '../builders/sso/oidc';
import { group, sshTo } from '../builders/accounts/organization';
import { actionFile, readProc, type ActionJob } from '../harness/product/action-job';
import { CommandLine } from '../harness/product/command-line';
import { freePort } from '../harness/network/free-port';
import { node24 } from '../harness/machines/node-24';
import { containing, matching } from '../harness/matching';
import { until } from '../harness/until';

const node = node24();

(node ? describe : describe.skip)('A CI job that uses the action', () => {
  const bench = ActionBench.own(node, sshTo(2));

  const isOver = (job: ActionJob): Promise<boolean> =>
    until('no process of the job is left', () => Promise.resolve(job.processes().length === 0));

  it('runs on Node.js 24, and its post step always', () => {
    const { using, 'post-if': condition } = actionFile().runs;
    expect({ using, condition }).toEqual({ using: 'node24', condition: 'always()' });
  });

  it('has access between its main and its post step, without a stored key', async () => {
    const job = bench.job();
    expect(await job.main()).toMatchObject({ code: 0 });
    const [session] = await bench.live();
    const { id, expiresAt } = session!;
    expect(job.outputs).toEqual({ 'session-id': id, address: JOB_ADDRESS, 'expires-at': expiresAt });
    expect(session!.userId).toBe(bench.trust.serviceUserId);
    expect(await bench.allowed()).toEqual([JOB_ADDRESS]);
    expect(job.processes()).toHaveLength(1);
    const post = await job.post();
    expect(post.code).toBe(0);
    expect(post.output).toMatch(/The rules were removed \d+\.\d s after the stop/);
    // the post step waits for it
    expect(await bench.allowed()).toEqual([]);
    expect(job.summary).toContain(session!.id);
    expect(job.summary).toContain('The rules were removed');
    await isOver(job);
  });

  it('with an API key, for the resources, the time and the reason that it gives', async () => {
    const apiKey = await bench.apiKey();
    const asked = { resources: ` ${bench.org.resourceIds[1]!} \n`, hours: '2' };
    const grounds = { reason: 'Nightly tests', ticket: 'CI-1' };
    const job = bench.job({ trust: '', 'api-key': apiKey, ...asked, ...grounds });
    expect(await job.main()).toMatchObject({ code: 0, output: containing(`::add-mask::${apiKey}`) });
    const [session] = await bench.live();
    expect(session!.resourceIps.map(({ resourceId }) => resourceId)).toEqual([bench.org.resourceIds[1]]);
    expect(Date.parse(session!.expiresAt) - Date.parse(session!.startedAt)).toBe(2 * 3_600_000);
    expect(session).toMatchObject(grounds);
    expect((await job.post()).code).toBe(0);
    expect(await bench.live()).toEqual([]);
  });

  it('has a holder of its own for each run of the action', async () => {
    const [one, two] = [bench.job(), bench.job()];
    expect([(await one.main()).code, (await two.main()).code]).toEqual([0, 0]);
    const rows = await bench.drawbridge.query<{ holder: string }>(
      `SELECT holder FROM sessions WHERE id = ANY($1)`,
      [[one, two].map(({ outputs }) => outputs['session-id'])],
    );
    const holders = rows.map(({ holder }) => holder);
    expect(new Set(holders).size).toBe(2);
    for (const holder of holders) expect(holder).toMatch(/^gh:4711:1:[0-9a-f]{16}$/);
    await one.post();
    expect(await bench.allowed()).toEqual([JOB_ADDRESS]);
    await two.post();
    expect(await bench.allowed()).toEqual([]);
  });

  it('waits until the probed port accepts a connection', async () => {
    const port = await freePort();
    const server = createServer((socket) => socket.destroy());
    const job = bench.job({ probe: `127.0.0.1:${port}` });
    const ended = job.main();
    await until('the job has access', async () => (await bench.allowed()).length > 0);
    await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
    expect(await ended).toMatchObject({ code: 0 });
    await new Promise((done) => server.close(done));
    await job.post();
  });

  it('with the command line and an ID token, on other CI systems', async () => {
    const token = await bench.issuer.sign(jobClaims(bench.issuer, bench.trust.audience));
    const cli = new CommandLine({ DRAWBRIDGE_URL: bench.proxy.url, DRAWBRIDGE_ID_TOKEN: token });
    try {
      const ask = `fetch('${bench.drawbridge.cloud.url}/_rules').then((r) => r.text()).then(console.log, console.error);
        console.log('token', process.env.DRAWBRIDGE_ID_TOKEN)`;
      const args = ['run', '-r', bench.org.resourceIds[0]!, '--', process.execPath, '-e', ask];
      const { code, stdout } = await cli.run(args);
      expect({ code, hasToken: stdout.includes(token) }).toEqual({ code: 0, hasToken: false });
      expect(stdout).toContain(JOB_ADDRESS);
      const again = await cli.run(args);
      const refusal = /The server refused DRAWBRIDGE_ID_TOKEN[^]*Fix: an administrator finds the reason/;
      expect(again).toMatchObject({ code: 5, stderr: matching(refusal) });
      const both = await cli.run(args, '', { DRAWBRIDGE_API_KEY: 'dbk_abc' });
      expect(both).toMatchObject({ code: 2, stderr: containing('Fix: unset DRAWBRIDGE_API_KEY') });
    } finally {
      await cli.remove();
    }
  });

  describe('ends', () => {
    it('at SIGINT while its rules are applied, without waiting for the cloud, and nothing stays', async () => {
      const { cloud } = bench.drawbridge;
      await cloud.fault({ kind: 'error', operation: 'AuthorizeSecurityGroupIngress', target: group(1) });
      await cloud.fault({ kind: 'refuse', operation: 'RevokeSecurityGroupIngress' });
      const job = bench.job();
      const ended = job.main();
      await until('one of two rules is applied', async () => (await bench.allowed()).length > 0);
      job.signal('SIGINT');
      const { code, output } = await ended;
      expect(await bench.allowed()).toEqual([JOB_ADDRESS]);
      await cloud.clearFaults();
      const error = '::error::Cancelled: the access was ended';
      expect([code, output.match(/^::error::.*$/m)?.[0]]).toEqual([1, error]);
      expect(await bench.live()).toEqual([]);
      expect((await job.post()).code).toBe(0);
      await until('nobody is allowed', async () => (await bench.allowed()).length === 0);
    });

    it('when its runner is killed and the renewer is not', async () => {
      const job = bench.job();
      expect((await job.main()).code).toBe(0);
      job.killRunner();
      await until('nobody is allowed', async () => (await bench.allowed()).length === 0);
      await isOver(job);
    });

    it('when the renewer starts after the post step, which has removed its file', async () => {
      const job = bench.job();
      expect((await job.main()).code).toBe(0);
      const access = JSON.parse(job.saved['access']!) as { notesFile: string };
      expect((await job.post()).code).toBe(0);
      await isOver(job);
      const late = spawn(node!, [join(__dirname, '../../apps/action/dist/renewer.js')], { env: {} });
      late.stdin.end(JSON.stringify({ ...access, runnerPid: process.pid }));
      expect(await once(late, 'exit')).toEqual([0, null]);
      expect(existsSync(access.notesFile)).toBe(false);
    });

    it('early, when an administrator stops its session: the summary says so', async () => {
      const job = bench.job();
      await job.main();
      const id = job.outputs['session-id']!;
      await bench.org.admin.posted(`/sessions/admin/${id}/stop`);
      await bench.org.reaches(id, 'CANCELLED');
      expect(await job.post()).toMatchObject({ code: 0, output: containing('The access had already ended') });
    });
  });

  describe('fails with one line and the fix', () => {
    /** @returns the one error of the main step, which has left nothing */
    async function errorOf(job: ActionJob): Promise<string> {
      const { code, output } = await job.main();
      expect(code).toBe(1);
      expect(await bench.live()).toEqual([]);
      expect((await job.post()).code).toBe(0);
      const errors = output.split('\n').filter((line) => line.startsWith('::error::'));
      expect(errors).toHaveLength(1);
      expect(output).not.toMatch(/\n\s+at .*:\d+:\d+/);
      return errors[0]!.slice('::error::'.length);
    }

    it.each([
      [{ lease: '30' }, 'The input lease is "30". Fix: '],
      [{ trust: '', 'api-key': 'dbk_unknown-key-0123456789' }, 'Fix: check the input api-key'],
      [{ resources: 'nothing-of-this-name' }, 'There is no resource "nothing-of-this-name"'],
    ])('%j', async (inputs, expected) => {
      expect(await errorOf(bench.job(inputs as Record<string, string>))).toContain(expected);
    });

    it('a job that may not request ID tokens', async () => {
      const said =
        'This job may not request an ID token. Fix: add `permissions: id-token: write` to the job; ';
      expect(await errorOf(bench.job({}, false))).toContain(said);
    });

    it('a job that the trust does not fit', async () => {
      const conditions = { repository_id: ['1'], repository_owner_id: ['65'], environment: ['production'] };
      const other = await githubTrust(bench.org, bench.issuer, { conditions });
      const error = await errorOf(bench.job({ trust: `${other.audience}#${other.id}` }));
      expect(error).toContain("The server refused this job's ID token. Fix: an administrator finds");
    });
  });

  it('shows no secret: not in its log, its outputs and its summary, nor in the renewer’s arguments and environment', async () => {
    const apiKey = await bench.apiKey();
    const jobs = [bench.job(), bench.job({ trust: '', 'api-key': apiKey })];
    const logs: string[] = [];
    const publicFiles: string[] = [];
    const processes: string[] = [];
    const secrets = [apiKey];
    for (const job of jobs) {
      logs.push((await job.main()).output);
      const { sessions } = JSON.parse(job.saved['access']!) as { sessions: { token: string }[] };
      secrets.push(...sessions.map(({ token }) => token));
      const [renewer] = job.processes();
      processes.push(readProc(renewer!, 'environ'), readProc(renewer!, 'cmdline'));
      publicFiles.push(job.publicFiles);
      logs.push((await job.post()).output);
      publicFiles.push(job.publicFiles);
    }
    secrets.push(...bench.endpoint.issued, bench.endpoint.variables.ACTIONS_ID_TOKEN_REQUEST_TOKEN);
    expect(secrets).toHaveLength(3 + bench.endpoint.issued.length + 1);
    // a mask names its secret to the runner, which shows none of these lines
    const shown = logs.join('\n').replaceAll(/^::add-mask::.*$/gm, '');
    const everything = [shown, ...publicFiles, ...processes].join('\n');
    for (const secret of secrets) expect(everything).not.toContain(secret);
    // the whole environment of the renewer
    for (const environment of processes.filter((_, index) => index % 2 === 0))
      expect(environment.replaceAll(/RUNNER_TRACKING_ID=[^\0]*\0/g, '')).toBe('');
    for (const token of secrets.filter((secret) => secret.startsWith('dbs_')))
      expect(logs.join()).toContain(`::add-mask::${token}`);
  });
});
