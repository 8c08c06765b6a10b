import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { loadSettings, SettingsError } from '#config';
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
  const words = error instanceof SettingsError ? error.message : String((error as Error).stack);
  process.stderr.write(`The worker cannot start. ${words}\n`);
  process.exit(1);
});
