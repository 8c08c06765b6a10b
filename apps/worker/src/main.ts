import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { pino } from 'pino';
import { loadSettings } from '#config';
import { endUnstarted, stopOnSignals } from '#connections';
import { dropProxyVariables, routeEgress } from '#drivers';
import { LogSink, StartupLog } from '#logs';
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
  stopOnSignals('worker', { close: () => worker.close() });
  process.send?.({ ready: true, port: worker.get(WorkerLifecycle).operatorPort ?? undefined });
}

start().catch((error: unknown) => endUnstarted('worker', error));
