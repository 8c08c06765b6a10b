import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { loadSettings } from '#config';
import { endUnstarted } from '#connections';
import { dropProxyVariables, routeEgress } from '#drivers';
import { NestLog, StartupLog } from '#logs';
import { ApiSettings } from './api.settings';
import { AppModule } from './app.module';
import { detectionOrigins, serveConsole } from './console/serve-console';
import { serveDocs } from './docs/open-api';
import { Readiness } from './health/readiness';
import { RequestMetrics } from './health/request-metrics';
import { configureHttp } from './http/configure-http';
import { apiLog } from './http/request-log';
import { installNotFoundHandler } from './http/not-found-handler';
import { installShutdownHandlers } from './health/shutdown-handlers';
import { OidcTrustsService } from './oidc/oidc-trusts.service';

/** Load balancers typically check readiness every second. */
const DEFAULT_DRAIN_SECONDS = 2;

const LOOPBACK = '127.0.0.1';

async function start(): Promise<void> {
  const settings = loadSettings(ApiSettings, process.env);
  const log = apiLog(settings.LOG_LEVEL);
  const unused = dropProxyVariables(process.env);
  if (unused.length > 0) log.warn({ unused }, 'Variables of a proxy are not used: EGRESS_PROXY is');
  routeEgress(settings.EGRESS_PROXY);
  const app = await NestFactory.create<NestExpressApplication>(await AppModule.connect(settings), {
    bodyParser: false,
    abortOnError: false,
    // startup errors are printed in one line below
    logger: new StartupLog(log),
  });
  const metrics = app.get(RequestMetrics);
  if (settings.METRICS_PORT !== undefined) metrics.measure(app);
  configureHttp(app, settings, log);
  serveDocs(app, settings);
  installShutdownHandlers(
    app,
    1000 * (settings.DRAIN_SECONDS ?? (settings.EMBEDDED ? 0 : DEFAULT_DRAIN_SECONDS)),
  );
  await app.init();
  if (settings.CONSOLE === 'on') app.use(serveConsole(detectionOrigins(settings)));
  installNotFoundHandler(app);
  if (settings.METRICS_PORT !== undefined)
    await metrics.serve(settings.METRICS_PORT, settings.METRICS_HOST, app.get(Readiness));
  const host = settings.HOST ?? (settings.EMBEDDED ? LOOPBACK : undefined);
  await (host === undefined ? app.listen(settings.PORT) : app.listen(settings.PORT, host));
  app.useLogger(new NestLog(log));
  const address = app.getHttpServer().address();
  const port = typeof address === 'object' && address ? address.port : settings.PORT;
  log.info({ port }, 'Listening');
  process.send?.({ ready: true, port });
  await app
    .get(OidcTrustsService)
    .logWeakTrusts(log)
    .catch((error: unknown) => log.warn({ err: error }, 'The trusts of CI jobs could not be reviewed'));
}

start().catch((error: unknown) => endUnstarted('API', error));
