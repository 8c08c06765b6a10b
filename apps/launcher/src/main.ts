import { mkdirSync } from 'node:fs';
import { banner } from './banner';
import { publicUrlOf, type Addresses } from './child-environment';
import type { DemoAccess } from './demo-organization';
import { Launcher } from './launcher';
import { findRepository, readLauncherSettings, type LauncherSettings } from './launcher.settings';
import { claimPort } from './ports';
import { Progress } from './progress';
import { takeRunLock } from './run-lock';
import { loadSecrets } from './secrets-file';
import { onStopRequest } from './stop-requests';

const INTERRUPTED = 130;
/** Processes of a killed run take this long to notice and to finish what they do. */
const LEFTOVERS_WITHIN_MS = 12_000;

const say = (line: string): void => console.log(line);

async function main(): Promise<void> {
  const repository = findRepository();
  const settings = readLauncherSettings(process.env, repository);
  mkdirSync(settings.DATA_DIR, { recursive: true });
  const lock = takeRunLock(settings.DATA_DIR, publicUrlOf(settings, settings.PORT));
  // also when it ends by itself: nothing of this run is left then
  process.once('exit', () => lock.release());
  const addresses = await claimAddresses(settings, lock.wasStale ? LEFTOVERS_WITHIN_MS : 0);
  const secrets = loadSecrets(settings.DATA_DIR, process.env);
  const launcher = new Launcher({
    repository,
    settings,
    addresses,
    secrets,
    environment: process.env,
    say,
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
      say('\nStopping... (again to stop at once)');
      end(launcher, 0);
    },
    () => void launcher.kill().finally(() => process.exit(INTERRUPTED)),
  );
  const progress = new Progress(say);
  try {
    await launcher.start(progress);
    const demo = settings.CLOUD === 'simulated' ? await demoOf(launcher, progress) : null;
    if (isStopping) return;
    say(banner(addresses, demo, process.env['SMTP_URL'] ? null : launcher.apiLog));
    say(`Ready in ${progress.total} s. Ctrl-C stops everything; logs and data are in ${settings.DATA_DIR}`);
    if (process.connected) process.send?.({ ready: true, port: addresses.port });
  } catch (error) {
    // what is being stopped fails to start
    if (isStopping) return;
    isStopping = true;
    console.error(`\n${wordsFor(error)}`);
    end(launcher, 1);
  }
}

/** The service is worth its while without the demo too. */
async function demoOf(launcher: Launcher, progress: Progress): Promise<DemoAccess | null> {
  try {
    return await progress.step('Demo organization is there', () => launcher.ensureDemo());
  } catch (error) {
    say(`\nThe demo organization is not complete. ${wordsFor(error)}`);
    return null;
  }
}

async function claimAddresses(settings: LauncherSettings, patienceMs: number): Promise<Addresses> {
  const { PORT, SIMULATOR_PORT, CLOUD } = settings;
  if (CLOUD === 'simulated' && PORT === SIMULATOR_PORT && PORT !== 0) {
    throw new Error(`PORT and SIMULATOR_PORT are both ${PORT}: set one of them to another port.`);
  }
  const port = await claimPort('PORT', PORT, patienceMs);
  const simulatorPort =
    CLOUD === 'simulated' ? await claimPort('SIMULATOR_PORT', SIMULATOR_PORT, patienceMs) : null;
  return { port, simulatorPort, publicUrl: publicUrlOf(settings, port) };
}

function end(launcher: Launcher, code: number): void {
  launcher.stop().then(
    () => process.exit(code),
    (error: unknown) => {
      console.error(wordsFor(error));
      void launcher.kill().finally(() => process.exit(1));
    },
  );
}

/** Errors are written for people; only a mistake in this program needs its place. */
function wordsFor(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isOurMistake = [TypeError, RangeError, ReferenceError].some((type) => error instanceof type);
  return isOurMistake ? (error.stack ?? error.message) : error.message;
}

// A closed terminal must not keep what it started from being stopped.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

main().catch((error: unknown) => {
  console.error(wordsFor(error));
  process.exit(1);
});
