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
  /** the list of the success is sent as a CSV file, too */
  readonly csv?: true;
  /** headers of the success that not every response has */
  readonly headers?: readonly HeaderName[];
  /** it has a dry run, which compares whose rights, or those on what: the object in the path; null: none change */
  readonly dryRun?: TrialSubjectKind | null;
}

/** Handler decorator: what an endpoint does, the status of its success, and its responses. */
export function Operation(
  summary: string,
  { errors = [], headers = [], csv, dryRun, ...successes }: DocumentedAnswers,
  description?: string,
): MethodDecorator {
  const statuses = Object.keys(successes).map(Number);
  const documented = Object.entries(successes).map(([status, answer]) =>
    ApiResponse({
      status: Number(status),
      description: '',
      ...(headers.length > 0 && { headers: Object.fromEntries(headers.map(reference)) }),
      ...contentOf(answer, { csv, dryRun: dryRun !== undefined && status === '200' }),
    }),
  );
  const refused = errors.map((status) =>
    ApiResponse({ status, description: ERROR_DESCRIPTIONS[status] ?? 'Refused' }),
  );
  const operation = ApiOperation({ summary, ...(description !== undefined && { description }) });
  const paged = Object.values(successes).some(isList) ? [UseInterceptors(ListPageInterceptor)] : [];
  const answered = statuses.map((status) => HttpCode(status));
  const models = Object.values(successes)
    .map((answer) => (isList(answer) ? answer[0] : answer))
    .filter((model) => model !== null);
  const tried = dryRun === undefined ? [] : withDryRun(dryRun, !statuses.includes(200));
  const named = [ApiExtraModels(...models), ...tried];
  return applyDecorators(operation, ...answered, ...documented, ...refused, ...paged, ...named);
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

/** One of several bodies, or the body alone. */
function contentOf(answer: Answer, { csv, dryRun }: { csv: true | undefined; dryRun: boolean }): object {
  if (answer === null) return {};
  const item = { $ref: getSchemaPath(isList(answer) ? answer[0] : answer) };
  if (dryRun)
    return {
      description: 'What the request did, or with dryRun what it would do',
      schema: { oneOf: [item, { $ref: getSchemaPath(ChangePlanDto) }] },
    };
  if (!csv) return isList(answer) ? { type: answer[0], isArray: true } : { type: answer };
  return {
    content: {
      'application/json': { schema: { type: 'array', items: item } },
      'text/csv': { schema: { type: 'string' } },
    },
  };
}

const isList = (answer: Answer | undefined): answer is readonly [Type] => Array.isArray(answer);
