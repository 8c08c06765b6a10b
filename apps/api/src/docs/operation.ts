import { applyDecorators, HttpCode, UseInterceptors, type Type } from '@nestjs/common';
import { ApiExtraModels, ApiOperation, ApiQuery, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import type { TrialSubjectKind } from '#tenant-store';
import { HasDryRun } from '../http/dry-run';
import { ListPageInterceptor } from '../http/list-page';
import { ChangePlanDto } from '../trials/dto/change-plan.dto';
import { DryRunInterceptor } from '../trials/dry-run.interceptor';
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
  /** it has a dry run, which compares whose rights, or those on what: the object in the path; null: none change */
  readonly dryRun?: TrialSubjectKind | null;
}

/** Handler decorator: what an endpoint does, the status of its success, and its responses. */
export function Operation(
  summary: string,
  { errors = [], headers = [], dryRun, ...successes }: DocumentedAnswers,
  description?: string,
): MethodDecorator {
  const statuses = Object.keys(successes).map(Number);
  const documented = Object.entries(successes).map(([status, answer]) =>
    ApiResponse({
      status: Number(status),
      description: '',
      ...(headers.length > 0 && { headers: Object.fromEntries(headers.map(reference)) }),
      ...(dryRun !== undefined && status === '200' ? eitherOf(answer as Type) : bodyOf(answer)),
    }),
  );
  const refused = errors.map((status) =>
    ApiResponse({ status, description: ERROR_DESCRIPTIONS[status] ?? 'Refused' }),
  );
  const operation = ApiOperation({ summary, ...(description !== undefined && { description }) });
  const paged = Object.values(successes).some(isList) ? [UseInterceptors(ListPageInterceptor)] : [];
  const answered = statuses.map((status) => HttpCode(status));
  const models = Object.values(successes).filter((answer) => typeof answer === 'function');
  const tried =
    dryRun === undefined ? [] : [...withDryRun(dryRun, !statuses.includes(200)), ApiExtraModels(...models)];
  return applyDecorators(operation, ...answered, ...documented, ...refused, ...paged, ...tried);
}

function withDryRun(rightsOf: TrialSubjectKind | null, isAlone: boolean): MethodDecorator[] {
  const description =
    'true: change nothing, and answer with what the request would do. Also as a field of the body';
  return [
    HasDryRun({ rightsOf }),
    UseInterceptors(DryRunInterceptor),
    ApiQuery({ name: 'dryRun', required: false, schema: { type: 'boolean', default: false }, description }),
    ApiExtraModels(ChangePlanDto),
    ...(isAlone ? [ApiResponse({ status: 200, description: PLAN, type: ChangePlanDto })] : []),
  ];
}

const PLAN = 'With dryRun: what the request would do';

const eitherOf = (type: Type): object => ({
  description: 'What the request did, or with dryRun what it would do',
  schema: { oneOf: [type, ChangePlanDto].map((one) => ({ $ref: getSchemaPath(one) })) },
});

function bodyOf(answer: Answer): { type?: Type; isArray?: true } {
  if (answer === null) return {};
  return isList(answer) ? { type: answer[0], isArray: true } : { type: answer };
}

const isList = (answer: Answer | undefined): answer is readonly [Type] => Array.isArray(answer);
