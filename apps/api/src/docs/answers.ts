import { applyDecorators, HttpCode, type Type } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import { ERROR_DESCRIPTIONS } from './error-descriptions';

/** A body; `[Body]` for a list of them; null for none. */
type Answer = Type | readonly [Type] | null;

export interface DocumentedAnswers {
  readonly 200?: Answer;
  readonly 201?: Answer;
  readonly 204?: null;
  /** statuses of errors; their bodies and the errors of every endpoint are documented automatically */
  readonly errors: readonly number[];
  /** of the success, where the body's name does not explain it */
  readonly description?: string;
}

/** Handler decorator: the status of an endpoint's success, and the documentation of its responses. */
export function Answers({ errors, description = '', ...successes }: DocumentedAnswers): MethodDecorator {
  const documented = Object.entries(successes).map(([status, answer]) =>
    success(Number(status), answer, description),
  );
  const statuses = Object.keys(successes).map(Number);
  const refused = errors.map((status) =>
    ApiResponse({ status, description: ERROR_DESCRIPTIONS[status] ?? 'Refused' }),
  );
  return applyDecorators(...statuses.map((status) => HttpCode(status)), ...documented, ...refused);
}

function success(status: number, answer: Answer, description: string): MethodDecorator {
  if (answer === null) return ApiResponse({ status, description });
  if (isList(answer)) return ApiResponse({ status, description, type: answer[0], isArray: true });
  return ApiResponse({ status, description, type: answer });
}

const isList = (answer: Type | readonly [Type]): answer is readonly [Type] => Array.isArray(answer);
