import { applyDecorators, HttpCode, UseInterceptors, type Type } from '@nestjs/common';
import { ApiExtraModels, ApiOperation, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { ListPageInterceptor } from '../http/list-page';
import { ERROR_DESCRIPTIONS } from './error-descriptions';
import { reference, type HeaderName } from './headers';

/** A body; `[Body]` for a list of them; null for none. */
type Answer = Type | readonly [Type] | null;

export interface DocumentedAnswers {
  readonly 200?: Answer;
  readonly 201?: Answer;
  readonly 204?: null;
  readonly 302?: null;
  /** statuses of errors besides those of the layers around: 400, 401, 403, 413, 415, 429, 500, 503 */
  readonly errors?: readonly number[];
  /** the list of the success is sent as a CSV file, too */
  readonly csv?: true;
  /** headers of the success that not every response has */
  readonly headers?: readonly HeaderName[];
}

/** Handler decorator: what an endpoint does, the status of its success, and its responses. */
export function Operation(
  summary: string,
  { errors = [], headers = [], csv, ...successes }: DocumentedAnswers,
  description?: string,
): MethodDecorator {
  const statuses = Object.keys(successes).map(Number);
  const documented = Object.entries(successes).map(([status, answer]) =>
    ApiResponse({
      status: Number(status),
      description: '',
      ...(headers.length > 0 && { headers: Object.fromEntries(headers.map(reference)) }),
      ...(csv && isList(answer) ? contentOf(answer) : bodyOf(answer)),
    }),
  );
  const refused = errors.map((status) =>
    ApiResponse({ status, description: ERROR_DESCRIPTIONS[status] ?? 'Refused' }),
  );
  const operation = ApiOperation({ summary, ...(description !== undefined && { description }) });
  const paged = Object.values(successes).some(isList) ? [UseInterceptors(ListPageInterceptor)] : [];
  const answered = statuses.map((status) => HttpCode(status));
  const models = Object.values(successes).flatMap((answer) =>
    csv && isList(answer) ? [ApiExtraModels(answer[0])] : [],
  );
  return applyDecorators(operation, ...answered, ...documented, ...refused, ...paged, ...models);
}

const contentOf = ([item]: readonly [Type]): object => ({
  content: {
    'application/json': { schema: { type: 'array', items: { $ref: getSchemaPath(item) } } },
    'text/csv': { schema: { type: 'string' } },
  },
});

function bodyOf(answer: Answer): { type?: Type; isArray?: true } {
  if (answer === null) return {};
  return isList(answer) ? { type: answer[0], isArray: true } : { type: answer };
}

const isList = (answer: Answer | undefined): answer is readonly [Type] => Array.isArray(answer);
