import { EXIT_CONFIGURATION, loadSettings, SettingsError } from '#config';
import { SimulatorSettings } from './settings';
import { startSimulator, type RunningSimulator } from './start-simulator';

async function main(): Promise<void> {
  const settings = loadSettings(SimulatorSettings, process.env);
  const simulator = await startSimulator({
    port: settings.SIMULATOR_PORT,
    host: settings.SIMULATOR_HOST,
    latencyMs: settings.SIMULATOR_LATENCY_MS,
    rulesPerGroup: settings.SIMULATOR_RULES_PER_GROUP,
    groups: settings.SIMULATOR_GROUPS,
    azureServerMs: settings.SIMULATOR_AZURE_SERVER_MS,
    gcpOperationMs: settings.SIMULATOR_GCP_OPERATION_MS,
    writeBurst: settings.SIMULATOR_WRITE_BURST,
    writeRefillPerSecond: settings.SIMULATOR_WRITE_REFILL_PER_SECOND,
    readBurst: settings.SIMULATOR_READ_BURST,
    readRefillPerSecond: settings.SIMULATOR_READ_REFILL_PER_SECOND,
    stateFile: settings.SIMULATOR_STATE_FILE,
    onWarning: (message) => process.stderr.write(`${message}\n`),
  });
  stopWithParentOrSignal(simulator);
  process.stdout.write(`The simulated clouds are at ${simulator.url}\n`);
  if (process.connected) process.send?.({ ready: true, port: simulator.port });
}

function stopWithParentOrSignal(simulator: RunningSimulator): void {
  const stop = (): void => {
    simulator.close().then(
      () => process.exit(0),
      (error: unknown) => fail(error),
    );
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  if (process.connected) process.once('disconnect', stop);
}

function fail(error: unknown): void {
  process.stderr.write(`${messageFor(error)}\n`);
  process.exit(error instanceof SettingsError ? EXIT_CONFIGURATION : 1);
}

function messageFor(error: unknown): string {
  if (error instanceof SettingsError) return error.message;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') return 'The port is taken: set SIMULATOR_PORT to a free one.';
  if (code === 'EACCES') return 'The port needs more rights: set SIMULATOR_PORT to one above 1023.';
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return 'SIMULATOR_HOST is not an address of this machine.';
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

main().catch(fail);
