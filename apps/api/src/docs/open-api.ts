import type { INestApplication } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import type { ApiSettings } from '../api.settings';
import { ABOUT } from './about';
import { completeOperations } from './complete-operations';
import { CodedErrorDto, ErrorDto, ScopeErrorDto } from './error.dto';
import { operationIdOf, routeTable } from './route-table';
import { describeTags } from './tags';

export function openApiDocument(
  app: INestApplication,
  settings: Pick<ApiSettings, 'PUBLIC_URL'> = {},
): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Drawbridge')
    .setDescription(ABOUT)
    .setVersion('1')
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addServer(settings.PUBLIC_URL ?? '/')
    .addBearerAuth(
      { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'the access token of a sign-in' },
      'bearer',
    )
    .addApiKey(
      { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'a key made at `/api/v1/api-keys`' },
      'apiKey',
    )
    .addApiKey(
      { type: 'apiKey', in: 'header', name: 'Authorization', description: 'the same key: `ApiKey <key>`' },
      'apiKeyInAuthorization',
    )
    .addApiKey(
      {
        type: 'apiKey',
        in: 'header',
        name: 'Authorization',
        description: 'the token of the session in the path: `Session <token>`',
      },
      'sessionToken',
    )
    .build();
  const document = SwaggerModule.createDocument(app, config, {
    operationIdFactory: operationIdOf,
    extraModels: [ErrorDto, CodedErrorDto, ScopeErrorDto],
  });
  completeOperations(document, routeTable(app));
  describeTags(document);
  inStableOrder(document);
  return document;
}

/** Sorts paths, schemas and responses, so that a new module changes only its own lines of the written document. */
function inStableOrder(document: OpenAPIObject): void {
  document.paths = byName(document.paths);
  const { schemas = {}, responses = {} } = document.components ?? {};
  document.components = { ...document.components, schemas: byName(schemas), responses: byName(responses) };
}

const byName = <T>(entries: Record<string, T>): Record<string, T> =>
  Object.fromEntries(
    Object.entries(entries).sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0)),
  );

const DOCUMENT_PATH = 'api/v1/openapi.json';

/** Serves the document as JSON under the API's prefix and as a page at `/docs`. Generated on the first request. */
export function serveDocs(app: INestApplication, settings: ApiSettings): void {
  app.use('/docs', fitPhones);
  SwaggerModule.setup('docs', app, () => openApiDocument(app, settings), {
    jsonDocumentUrl: DOCUMENT_PATH,
    raw: ['json'],
    customSiteTitle: 'Drawbridge API',
    customCss: NARROW,
  });
}

/** On a phone, what stands beside each other stands below each other: Swagger UI leaves the second column a letter's width. */
const NARROW = `@media (max-width: 640px) {
  .swagger-ui .opblock-tag { flex-wrap: wrap }
  .swagger-ui .opblock-tag small { flex: 1 0 80%; order: 1; padding: 0 }
  .swagger-ui .opblock .opblock-summary { flex-wrap: wrap }
  .swagger-ui .opblock .opblock-summary-description { flex: 1 0 100% }
  .swagger-ui .wrapper { padding: 0 10px }
  .swagger-ui table, .swagger-ui tbody, .swagger-ui tr, .swagger-ui td { display: block; width: auto }
  .swagger-ui thead { display: none }
  .swagger-ui .opblock-body pre { max-width: calc(100vw - 60px) }
}`;

const VIEWPORT = '<meta name="viewport" content="width=device-width, initial-scale=1">';

/** Express middleware: phones show the page in their own width. */
function fitPhones(_request: Request, response: Response, next: NextFunction): void {
  const send = response.send.bind(response);
  response.send = (body: unknown) =>
    send(typeof body === 'string' ? body.replace('<head>', `<head>\n  ${VIEWPORT}`) : body);
  next();
}
