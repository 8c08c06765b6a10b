import { mkdirSync } from 'node:fs';
import { banner } from './banner';
import { publicUrlOf, type Addresses } from './child-environment';
import type { DemoAccess } from './demo-organization';
import { Launcher } from './launcher';
import { findRepository, readLauncherSettings, type LauncherSettings } from './launcher.settings';
import { claimPorts, startCommand, type PortWish } from './ports';
import { codeOf } from './processes';
import { Progress } from './progress';
import { RunsAlready, takeRunLock, type RunLock } from './run-lock';
import { loadSecrets } from './secrets-file';
import { onStopRequest } from './stop-requests';

const INTERRUPTED = 130;
/** How long processes of a killed run take to notice and to finish their work. */
const ORPHANS_TIMEOUT_MS = 12_000;

const print = (line: string): void => console.log(line);

async function main(): Promise<void> {
  const repository = findRepository();
  const settings = readLauncherSettings(process.env, repository);
  mkdirSync(settings.DATA_DIR, { recursive: true });
  const lock = await takeFolder(settings);
  // also on an unexpected exit: no process of this run is left then
  process.once('exit', () => lock.release());
  const addresses = await claimAddresses(settings, lock.wasStale ? ORPHANS_TIMEOUT_MS : 0);
  const secrets = loadSecrets(settings.DATA_DIR, process.env);
  const launcher = new Launcher({
    repository,
    settings,
    addresses,
    secrets,
    environment: process.env,
    print,
    isReloaded: process.argv.includes('--reload'),
    onLost: (reason) => {
      console.error(reason);
      end(launcher, 1);
    },
  });
  await run(launcher, settings, addresses);
}

async function run(launcher: Launcher, settings: LauncherSettings, addresses: Addresses): Promise<void> {
  let isStopping = false;
  onStopRequest(
    () => {
      isStopping = true;
      print('\nStopping... (again to stop at once)');
      end(launcher, 0);
    },
    () => void launcher.kill().finally(() => process.exit(INTERRUPTED)),
  );
  const progress = new Progress(print);
  try {
    await launcher.start(progress);
    const demo = settings.CLOUD === 'simulated' ? await ensureDemo(launcher, progress) : null;
    if (isStopping) return;
    const mailLog = process.env['SMTP_URL'] ? null : launcher.apiLog;
    const isClosed = process.env['REGISTRATION'] === 'closed';
    print(banner(addresses, { demo, mailLog, hasConsole: await launcher.hasConsole(), isClosed }));
    print(`Ready in ${progress.total} s. Ctrl-C stops everything; logs and data are in ${settings.DATA_DIR}`);
    if (process.connected) process.send?.({ ready: true, port: addresses.port });
  } catch (error) {
    // stopping makes the start fail
    if (isStopping) return;
    isStopping = true;
    console.error(`\n${messageFor(error)}`);
    end(launcher, 1);
  }
}

/** A failure is not fatal: the service works without the demo. */
async function ensureDemo(launcher: Launcher, progress: Progress): Promise<DemoAccess | null> {
  try {
    return await progress.step('creating the demo organization', 'Demo organization is there', () =>
      launcher.ensureDemo(),
    );
  } catch (error) {
    print(`\nThe demo organization is not complete. ${messageFor(error)}`);
    return null;
  }
}

/** @throws Error with the command for a second run when one runs on this folder */
async function takeFolder(settings: LauncherSettings): Promise<RunLock> {
  try {
    return takeRunLock(settings.DATA_DIR, publicUrlOf(settings, settings.PORT));
  } catch (error) {
    if (!(error instanceof RunsAlready)) throw error;
    // beside the folder, which is deleted to start afresh
    const folder = `DATA_DIR=${process.env['DATA_DIR'] ?? '.data'}-second`;
    const second = await startCommand(portWishes(settings), [folder]);
    throw new Error(`${error.message}\nStop it first, or start a second one beside it:\n\n  ${second}`, {
      cause: error,
    });
  }
}

function portWishes({ PORT, SIMULATOR_PORT, METRICS_PORT, CLOUD }: LauncherSettings): PortWish[] {
  return [
    { variable: 'PORT', port: PORT, count: 1 },
    ...(CLOUD === 'simulated' ? [{ variable: 'SIMULATOR_PORT', port: SIMULATOR_PORT, count: 1 }] : []),
    ...(METRICS_PORT === undefined ? [] : [{ variable: 'METRICS_PORT', port: METRICS_PORT, count: 2 }]),
  ];
}

async function claimAddresses(settings: LauncherSettings, timeoutMs: number): Promise<Addresses> {
  const wishes = portWishes(settings);
  refuseSharedPorts(wishes);
  const { DATA_DIR } = process.env;
  const kept = DATA_DIR ? [`DATA_DIR=${DATA_DIR}`] : [];
  const ports = await claimPorts(wishes, timeoutMs, kept);
  const portsOf = (variable: string): number[] | undefined =>
    ports[wishes.findIndex((wish) => wish.variable === variable)];
  const port = portsOf('PORT')![0]!;
  const metrics = portsOf('METRICS_PORT');
  return {
    port,
    simulatorPort: portsOf('SIMULATOR_PORT')?.[0] ?? null,
    metricsPorts: metrics ? { api: metrics[0]!, worker: metrics[1]! } : null,
    publicUrl: publicUrlOf(settings, port),
  };
}

function refuseSharedPorts(wishes: readonly PortWish[]): void {
  const named = wishes
    .filter(({ port }) => port !== 0)
    .flatMap(({ variable, port, count }) =>
      [variable, `${variable} + 1, the worker’s,`]
        .slice(0, count)
        .map((name, index) => ({ name, port: port + index })),
    );
  for (const { name, port } of named) {
    const other = named.find((each) => each.port === port)!;
    if (other.name !== name)
      throw new Error(`${other.name} and ${name} are both ${port}: set one of them to another port.`);
  }
}

function end(launcher: Launcher, code: number): void {
  launcher.stop().then(
    () => process.exit(code),
    (error: unknown) => {
      console.error(messageFor(error));
      void launcher.kill().finally(() => process.exit(1));
    },
  );
}

/** Error messages are written for users; only programming errors are printed with their stack. */
function messageFor(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (['EACCES', 'EPERM', 'EROFS'].includes(codeOf(error)) && 'path' in error) {
    return `${String(error.path)} cannot be written (${codeOf(error)}): set DATA_DIR to a folder that this user may write to.`;
  }
  const isProgrammingError = [TypeError, RangeError, ReferenceError].some((type) => error instanceof type);
  return isProgrammingError ? (error.stack ?? error.message) : error.message;
}

// writing to a closed terminal must not prevent an orderly stop
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

main().catch((error: unknown) => {
  console.error(messageFor(error));
  process.exit(1);
});
