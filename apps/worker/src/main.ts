import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { pino } from 'pino';
import { EXIT_CONFIGURATION, loadSettings, SettingsError } from '#config';
import { dropProxyVariables, routeEgress } from '#drivers';
import { UnusableDatabase } from '#entities';
import { LogSink, StartupLog } from '#logs';
import { installShutdownHandlers } from './shutdown-handlers';
import { WorkerLifecycle } from './worker-lifecycle';
import { WorkerModule } from './worker.module';
import { WorkerSettings } from './worker.settings';

async function start(): Promise<void> {
  const settings = loadSettings(WorkerSettings, process.env);
  const log = pino({ name: 'worker', level: settings.LOG_LEVEL }, new LogSink(process.stdout));
  const unused = dropProxyVariables(process.env);
  if (unused.length > 0) log.warn({ unused }, 'Variables of a proxy are not used: EGRESS_PROXY is');
  routeEgress(settings.EGRESS_PROXY);
  const worker = await NestFactory.createApplicationContext(
    await WorkerModule.connect(settings, process.env, log),
    {
      logger: new StartupLog(log),
      abortOnError: false,
    },
  );
  installShutdownHandlers(worker);
  process.send?.({ ready: true, port: worker.get(WorkerLifecycle).operatorPort ?? undefined });
}

start().catch((error: unknown) => {
  process.stderr.write(`The worker cannot start. ${reasonOf(error)}\n`);
  process.exit(isPermanent(error) ? EXIT_CONFIGURATION : 1);
});

const isPermanent = (error: unknown): boolean =>
  error instanceof SettingsError || (error instanceof UnusableDatabase && error.isPermanent);

function reasonOf(error: unknown): string {
  if (error instanceof SettingsError || error instanceof UnusableDatabase) return error.message;
  if (!(error instanceof Error)) return 'Unknown reason';
  if ('code' in error && error.code === 'EADDRNOTAVAIL') {
    return 'This machine does not have the address of METRICS_HOST: correct it.';
  }
  if ('code' in error && error.code === 'EADDRINUSE') {
    return `Another program listens on port ${process.env['METRICS_PORT']}: set METRICS_PORT to a free one.`;
  }
  return error.stack ?? error.message;
}
