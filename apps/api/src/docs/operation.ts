import { applyDecorators, HttpCode, UseInterceptors, type Type } from '@nestjs/common';
import { ApiOperation, ApiResponse } from '@nestjs/swagger';
import { ListPageInterceptor } from '../http/list-page';
import { ERROR_DESCRIPTIONS } from './error-descriptions';

/** A body; `[Body]` for a list of them; null for none. */
type Answer = Type | readonly [Type] | null;

export interface DocumentedAnswers {
  readonly 200?: Answer;
  readonly 201?: Answer;
  readonly 204?: null;
  /** statuses of errors besides those of the layers around: 400, 401, 403, 413, 415, 429, 500, 503 */
  readonly errors?: readonly number[];
}

/** Handler decorator: what an endpoint does, the status of its success, and its responses. */
export function Operation(
  summary: string,
  { errors = [], ...successes }: DocumentedAnswers,
  description?: string,
): MethodDecorator {
  const statuses = Object.keys(successes).map(Number);
  const documented = Object.entries(successes).map(([status, answer]) => success(Number(status), answer));
  const refused = errors.map((status) =>
    ApiResponse({ status, description: ERROR_DESCRIPTIONS[status] ?? 'Refused' }),
  );
  const operation = ApiOperation({ summary, ...(description !== undefined && { description }) });
  return applyDecorators(operation, ...statuses.map((status) => HttpCode(status)), ...documented, ...refused);
}

function success(status: number, answer: Answer): MethodDecorator {
  if (answer === null) return ApiResponse({ status, description: '' });
  if (isList(answer)) {
    const documented = ApiResponse({ status, description: '', type: answer[0], isArray: true });
    return applyDecorators(documented, UseInterceptors(ListPageInterceptor));
  }
  return ApiResponse({ status, description: '', type: answer });
}

const isList = (answer: Type | readonly [Type]): answer is readonly [Type] => Array.isArray(answer);
