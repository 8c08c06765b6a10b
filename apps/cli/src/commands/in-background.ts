import { text } from 'node:stream/consumers';
import { closeAll } from '#client';
import type { Remaining } from '../access/closing';
import { Output } from '../output';
import { connect } from '../profiles/connection';
import { stopOne } from './sessions';

/** Ends the access that standard input names, until the server answers or there is nothing left to end. */
export async function endAccess(): Promise<void> {
  const { own, ...task } = JSON.parse(await text(process.stdin)) as Remaining;
  const { profile, ids } = own ?? { profile: undefined, ids: [] };
  const patience = { patienceMs: task.withinMs };
  const stops = ids.map(async (id) => stopOne(connect({ profile }, new Output('text'), patience), id));
  await Promise.allSettled([closeAll(task), ...stops]);
}
