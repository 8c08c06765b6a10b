import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import type { ApiSettings } from '../api.settings';
import { completeOperations } from './complete-operations';
import { CodedErrorDto, ErrorDto, ScopeErrorDto } from './error.dto';
import { operationIdOf, routeTable } from './route-table';

const ABOUT = `Lets people and CI jobs through cloud firewalls for a limited time.

A session opens the caller's address on cloud resources and closes it again when it ends. Rules are applied and removed
in the background: read the session to follow them.`;

/** The OpenAPI document of the running application. */
export function openApiDocument(app: INestApplication, settings: ApiSettings): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Drawbridge')
    .setDescription(ABOUT)
    .setVersion('1')
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addServer(settings.PUBLIC_URL ?? '/')
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT' }, 'bearer')
    .addApiKey(
      { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'also `Authorization: ApiKey <key>`' },
      'apiKey',
    )
    .build();
  const document = SwaggerModule.createDocument(app, config, {
    operationIdFactory: operationIdOf,
    extraModels: [ErrorDto, CodedErrorDto, ScopeErrorDto],
  });
  completeOperations(document, routeTable(app));
  return document;
}

/** Serves the document as JSON under the API's prefix, and a page to read it at `/docs`. Made when first asked for. */
export function serveDocs(app: INestApplication, settings: ApiSettings): void {
  SwaggerModule.setup('docs', app, () => openApiDocument(app, settings), {
    jsonDocumentUrl: 'api/v1/openapi.json',
    raw: ['json'],
    customSiteTitle: 'Drawbridge API',
  });
}
