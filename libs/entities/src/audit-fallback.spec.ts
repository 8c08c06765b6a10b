import { QueryFailedError } from 'typeorm';
import { type Trail, withAuditFallback } from './audit-fallback';

const failed = (code: string): QueryFailedError =>
  new QueryFailedError('INSERT INTO audit_records', [], Object.assign(new Error('failed'), { code }));

/** @returns the trails that the work was run with, and the code of its error */
async function run(code: string): Promise<{ trails: Trail[]; thrown: unknown }> {
  const trails: Trail[] = [];
  const work = async (trail: Trail): Promise<void> => {
    trails.push(trail);
    if (trail === 'audit_records') throw failed(code);
    return Promise.resolve();
  };
  const thrown: unknown = await withAuditFallback(work).then(
    () => null,
    (error: QueryFailedError) => (error.driverError as { code?: string }).code,
  );
  return { trails, thrown };
}

describe('withAuditFallback', () => {
  it.each(['42501', '23514', 'P0001', '53100'])('retries with the fallback table after %s', async (code) => {
    expect(await run(code)).toEqual({ trails: ['audit_records', 'unwritten_audit_records'], thrown: null });
  });

  it.each([
    ['57014', 'a statement time-out'],
    ['57P01', 'a server that shuts down'],
    ['40001', 'a serialization failure'],
    ['08006', 'a lost connection'],
    ['53300', 'a full server'],
  ])('does not retry after %s, %s', async (code) => {
    expect(await run(code)).toEqual({ trails: ['audit_records'], thrown: code });
  });
});
