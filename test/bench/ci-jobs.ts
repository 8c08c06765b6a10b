import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { ActionBench } from '../builders/programs/action-bench';
import { group, SIMULATED_KEY } from '../builders/accounts/organization';
import { ActionJob, readProc, type StepEnd } from '../harness/product/action-job';
import { AddressProxy } from '../harness/network/address-proxy';
import { CLI } from '../harness/product/command-line';
import { until } from '../harness/until';

/** One job with access, however it gets it. */
export interface CiJob {
  /** resolves when its work may begin; rejects when it was cancelled before */
  readonly usable: Promise<void>;
  /** Ends its work, and waits until what gave the access has ended. */
  end(): Promise<void>;
  /** Cancels it, as GitHub's runner does: SIGINT, after 7.5 s SIGTERM, 2.5 s later SIGKILL; then its post step. */
  cancel(): Promise<void>;
  /** The machine is gone. */
  crash(): void;
  /** the environments of its processes */
  environments(): string;
}

/** A way to give jobs access, with a security group of its own. */
export interface Way {
  readonly name: string;
  readonly group: string;
  start(address: string): Promise<CiJob>;
}

const LEASE_SECONDS = 60;
const TO_SIGTERM_MS = 7_500;
const TO_SIGKILL_MS = 2_500;

/** A command that says when it begins, and ends when its input does. */
const WORK = [
  process.execPath,
  '-e',
  `console.log('usable'); process.stdin.resume().on('end', () => process.exit());`,
];

/** The four ways. Their jobs look up their address through proxies, which `close` ends. */
export class CiWays {
  private readonly proxies = new Map<string, Promise<AddressProxy>>();

  constructor(
    private readonly bench: ActionBench,
    readonly apiKey: string,
  ) {}

  get all(): Way[] {
    return [
      { name: 'the action', group: group(0), start: (address) => this.action(address) },
      { name: 'drawbridge run', group: group(1), start: (address) => this.run(address) },
      { name: 'a script with the SDK', group: group(2), start: (address) => this.script(address) },
      { name: 'an allow-list action', group: group(3), start: (address) => this.allowListAction(address) },
    ];
  }

  async close(): Promise<void> {
    for (const proxy of this.proxies.values()) await (await proxy).stop();
  }

  /** Long-lived secrets: those that still work when the job is over. */
  get secrets(): readonly string[] {
    return [this.apiKey, SIMULATED_KEY.secretAccessKey];
  }

  private proxy(address: string): Promise<AddressProxy> {
    const known = this.proxies.get(address);
    if (known) return known;
    const started = AddressProxy.start(this.bench.drawbridge.apiServer.port, address);
    this.proxies.set(address, started);
    return started;
  }

  private async action(address: string): Promise<CiJob> {
    const inputs = {
      url: (await this.proxy(address)).url,
      trust: this.bench.trust.audience,
      resources: this.bench.org.resourceIds[0]!,
      lease: String(LEASE_SECONDS),
    };
    return new StepsJob(new ActionJob(this.bench.node, inputs, { variables: this.bench.endpoint.variables }));
  }

  private async run(address: string): Promise<CiJob> {
    const resource = this.bench.org.resourceIds[1]!;
    const args = ['run', '--lease', String(LEASE_SECONDS), '--resource', resource, '--', ...WORK];
    const { url } = await this.proxy(address);
    return new ProcessJob([process.execPath, CLI, ...args], {
      DRAWBRIDGE_URL: url,
      DRAWBRIDGE_API_KEY: this.apiKey,
    });
  }

  private async script(address: string): Promise<CiJob> {
    const script = join(__dirname, 'ci', 'own-script.cjs');
    return new ProcessJob([process.execPath, script, ...WORK], await this.awsVariables(address, group(2)));
  }

  private async allowListAction(address: string): Promise<CiJob> {
    const [main, post] = ['allow-list-main.cjs', 'allow-list-post.cjs'].map((file) =>
      join(__dirname, 'ci', file),
    );
    const action = { main: main!, post: post!, defaults: {} };
    const variables = await this.awsVariables(address, group(3));
    return new StepsJob(new ActionJob(process.execPath, {}, { variables, action }));
  }

  private async awsVariables(address: string, securityGroup: string): Promise<Record<string, string>> {
    return {
      ADDRESS_URL: `${(await this.proxy(address)).url}/api/v1/detect-ip`,
      SECURITY_GROUP: securityGroup,
      AWS_REGION: 'us-east-1',
      AWS_ENDPOINT_URL_EC2: `${this.bench.drawbridge.cloud.url}/aws/ec2`,
      AWS_ACCESS_KEY_ID: SIMULATED_KEY.accessKeyId,
      AWS_SECRET_ACCESS_KEY: SIMULATED_KEY.secretAccessKey,
    };
  }
}

const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function escalate(signal: (name: NodeJS.Signals) => void, ended: Promise<unknown>): Promise<void> {
  signal('SIGINT');
  if (await isWithin(ended, TO_SIGTERM_MS)) return;
  signal('SIGTERM');
  if (!(await isWithin(ended, TO_SIGKILL_MS))) signal('SIGKILL');
  await ended;
}

const isWithin = (promise: Promise<unknown>, ms: number): Promise<boolean> =>
  Promise.race([promise.then(() => true), delay(ms).then(() => false)]);

/** Access from a main step to a post step, which runs always. */
class StepsJob implements CiJob {
  readonly usable: Promise<void>;
  private readonly main: Promise<StepEnd>;
  private isUsable = false;

  constructor(private readonly job: ActionJob) {
    this.main = job.main();
    this.usable = this.becomeUsable();
    this.usable.catch(() => undefined);
  }

  private async becomeUsable(): Promise<void> {
    const { code, output } = await this.main;
    const error = /^::error::.*$/m.exec(output)?.[0] ?? output;
    if (code !== 0) throw new Error(`The main step ended with ${code}: ${error}`);
    this.isUsable = true;
  }

  async end(): Promise<void> {
    await this.job.post();
    this.job.remove();
  }

  async cancel(): Promise<void> {
    // later the signal goes to the step of the work
    if (!this.isUsable) await escalate((name) => this.job.signal(name), this.main);
    await this.end();
  }

  crash(): void {
    this.job.remove();
  }

  environments(): string {
    return JSON.stringify(this.job.variables);
  }
}

/** Access while a process runs that starts the work. */
class ProcessJob implements CiJob {
  readonly usable: Promise<void>;
  private readonly child: ChildProcess;
  private readonly ended: Promise<unknown>;
  private output = '';

  constructor([program = '', ...args]: readonly string[], env: Readonly<Record<string, string>>) {
    const { PATH = '' } = process.env;
    this.child = spawn(program, args, { env: { PATH, HOME: '/nonexistent', ...env }, detached: true });
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.ended = new Promise((resolve) => {
      this.child.once('exit', resolve);
    });
    this.usable = this.becomeUsable();
    this.usable.catch(() => undefined);
  }

  private async becomeUsable(): Promise<void> {
    const hasBegun = (): boolean => this.output.includes('usable');
    await until('the work begins', () => Promise.resolve(hasBegun() || this.child.exitCode !== null));
    if (!hasBegun()) throw new Error(`It ended before its work: ${this.output}`);
  }

  async end(): Promise<void> {
    this.child.stdin!.end();
    await this.ended;
  }

  async cancel(): Promise<void> {
    await escalate((name) => this.child.kill(name), this.ended);
    this.crash();
  }

  crash(): void {
    try {
      process.kill(-this.child.pid!, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }

  environments(): string {
    return readProc(this.child.pid!, 'environ');
  }
}
