import { QueryFailedError } from 'typeorm';
import { closing, type Trail } from './closing';

const failed = (code: string): QueryFailedError =>
  new QueryFailedError('INSERT INTO audit_records', [], Object.assign(new Error('failed'), { code }));

/** @returns the trails that the work was run with, and the code it ended with */
async function run(code: string): Promise<{ trails: Trail[]; thrown: unknown }> {
  const trails: Trail[] = [];
  const work = async (trail: Trail): Promise<void> => {
    trails.push(trail);
    if (trail === 'audit_records') throw failed(code);
    return Promise.resolve();
  };
  const thrown: unknown = await closing(work).then(
    () => null,
    (error: QueryFailedError) => (error.driverError as { code?: string }).code,
  );
  return { trails, thrown };
}

describe('closing, when its audit record cannot be written', () => {
  it.each(['42501', '23514', 'P0001', '53100'])('runs again and keeps the record after %s', async (code) => {
    expect(await run(code)).toEqual({ trails: ['audit_records', 'unwritten_audit_records'], thrown: null });
  });

  it.each([
    ['57014', 'a statement time-out'],
    ['57P01', 'a server that shuts down'],
    ['40001', 'a serialization failure'],
    ['08006', 'a lost connection'],
    ['53300', 'a full server'],
  ])('runs once after %s, %s: the database refused nothing', async (code) => {
    expect(await run(code)).toEqual({ trails: ['audit_records'], thrown: code });
  });
});
