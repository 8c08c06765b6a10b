import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { loadSettings, SettingsError } from '#config';
import { UnusableDatabase } from '#entities';
import { stopOnRequest } from './stop-on-request';
import { WorkerLifecycle } from './worker-lifecycle';
import { WorkerModule } from './worker.module';
import { WorkerSettings } from './worker.settings';

async function start(): Promise<void> {
  const settings = loadSettings(WorkerSettings, process.env);
  const worker = await NestFactory.createApplicationContext(
    await WorkerModule.connect(settings, process.env),
    {
      logger: ['error', 'warn'],
      abortOnError: false,
    },
  );
  stopOnRequest(worker);
  process.send?.({ ready: true, port: worker.get(WorkerLifecycle).operatorPort ?? undefined });
}

start().catch((error: unknown) => {
  process.stderr.write(`The worker cannot start. ${reasonOf(error)}\n`);
  process.exit(1);
});

function reasonOf(error: unknown): string {
  if (error instanceof SettingsError || error instanceof UnusableDatabase) return error.message;
  if (!(error instanceof Error)) return 'Unknown reason';
  if ('code' in error && error.code === 'EADDRINUSE') {
    return `Another program listens on port ${process.env['METRICS_PORT']}: set METRICS_PORT to a free one.`;
  }
  return error.stack ?? error.message;
}
