import { mkdirSync } from 'node:fs';
import { banner } from './banner';
import { publicUrlOf, type Addresses } from './child-environment';
import type { DemoAccess } from './demo-organization';
import { Launcher } from './launcher';
import { findRepository, readLauncherSettings, type LauncherSettings } from './launcher.settings';
import { claimPort } from './ports';
import { codeOf } from './processes';
import { Progress } from './progress';
import { takeRunLock } from './run-lock';
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
  const lock = takeRunLock(settings.DATA_DIR, publicUrlOf(settings, settings.PORT));
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
    return await progress.step('Demo organization is there', () => launcher.ensureDemo());
  } catch (error) {
    print(`\nThe demo organization is not complete. ${messageFor(error)}`);
    return null;
  }
}

async function claimAddresses(settings: LauncherSettings, timeoutMs: number): Promise<Addresses> {
  const { PORT, SIMULATOR_PORT, METRICS_PORT, CLOUD } = settings;
  refuseSharedPorts([
    ['PORT', PORT],
    ['SIMULATOR_PORT', CLOUD === 'simulated' ? SIMULATOR_PORT : 0],
    ['METRICS_PORT', METRICS_PORT ?? 0],
    ['METRICS_PORT + 1, the worker’s,', METRICS_PORT ? METRICS_PORT + 1 : 0],
  ]);
  // all that are taken are told at once
  const problems: string[] = [];
  const claim = (variable: string, wanted: number): Promise<number> =>
    claimPort(variable, wanted, timeoutMs).catch((error: unknown) => {
      problems.push(messageFor(error));
      return 0;
    });
  const port = await claim('PORT', PORT);
  const simulatorPort = CLOUD === 'simulated' ? await claim('SIMULATOR_PORT', SIMULATOR_PORT) : null;
  const metricsPorts =
    METRICS_PORT === undefined
      ? null
      : {
          api: await claim('METRICS_PORT', METRICS_PORT),
          worker: await claim('METRICS_PORT', METRICS_PORT === 0 ? 0 : METRICS_PORT + 1),
        };
  if (problems.length > 0) throw new Error(problems.join('\n\n'));
  return { port, simulatorPort, metricsPorts, publicUrl: publicUrlOf(settings, port) };
}

/** @param ports each with its variable; 0: any free one */
function refuseSharedPorts(ports: readonly (readonly [string, number])[]): void {
  for (const [index, [name, port]] of ports.entries()) {
    const other = ports.slice(0, index).find(([, taken]) => taken === port && port !== 0);
    if (other) throw new Error(`${other[0]} and ${name} are both ${port}: set one of them to another port.`);
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
