import { applyDecorators, HttpCode, UseInterceptors, type Type } from '@nestjs/common';
import { ApiOperation, ApiResponse } from '@nestjs/swagger';
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
  /** headers of the success that not every response has */
  readonly headers?: readonly HeaderName[];
}

/** Handler decorator: what an endpoint does, the status of its success, and its responses. */
export function Operation(
  summary: string,
  { errors = [], headers = [], ...successes }: DocumentedAnswers,
  description?: string,
): MethodDecorator {
  const statuses = Object.keys(successes).map(Number);
  const documented = Object.entries(successes).map(([status, answer]) =>
    ApiResponse({
      status: Number(status),
      description: '',
      ...(headers.length > 0 && { headers: Object.fromEntries(headers.map(reference)) }),
      ...bodyOf(answer),
    }),
  );
  const refused = errors.map((status) =>
    ApiResponse({ status, description: ERROR_DESCRIPTIONS[status] ?? 'Refused' }),
  );
  const operation = ApiOperation({ summary, ...(description !== undefined && { description }) });
  const paged = Object.values(successes).some(isList) ? [UseInterceptors(ListPageInterceptor)] : [];
  const answered = statuses.map((status) => HttpCode(status));
  return applyDecorators(operation, ...answered, ...documented, ...refused, ...paged);
}

function bodyOf(answer: Answer): { type?: Type; isArray?: true } {
  if (answer === null) return {};
  return isList(answer) ? { type: answer[0], isArray: true } : { type: answer };
}

const isList = (answer: Answer | undefined): answer is readonly [Type] => Array.isArray(answer);
