import { applyDecorators, type Type } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import { ERROR_MESSAGE } from './error-words';

/** A body; `[Body]` for a list of them; null for none. */
type Answer = Type | readonly [Type] | null;

export interface DocumentedAnswers {
  readonly 200?: Answer;
  readonly 201?: Answer;
  readonly 204?: null;
  /** statuses of errors; their bodies, and the errors every endpoint has, are documented by themselves */
  readonly errors: readonly number[];
  /** what success means, where the name of the body does not say it */
  readonly words?: string;
}

/** Handler decorator: documents what an endpoint answers. */
export function Answers({ errors, words = '', ...successes }: DocumentedAnswers): MethodDecorator {
  const documented = Object.entries(successes).map(([status, answer]) =>
    success(Number(status), answer, words),
  );
  const refused = errors.map((status) =>
    ApiResponse({ status, description: ERROR_MESSAGE[status] ?? 'Refused' }),
  );
  return applyDecorators(...documented, ...refused);
}

function success(status: number, answer: Answer, description: string): MethodDecorator {
  if (answer === null) return ApiResponse({ status, description });
  if (isList(answer)) return ApiResponse({ status, description, type: answer[0], isArray: true });
  return ApiResponse({ status, description, type: answer });
}

const isList = (answer: Type | readonly [Type]): answer is readonly [Type] => Array.isArray(answer);
