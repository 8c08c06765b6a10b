import type { Answer } from '../../harness/product/api-client';
import type { Organization } from './organization';

/** Does every operation that changes a role. */
export async function throughRoles(
  { admin, resourceIds }: Organization,
  userId: string,
  did: (operation: string, action: Promise<Answer<{ id: string }>>) => Promise<{ id: string }>,
): Promise<void> {
  const role = await did('POST /roles', admin.post('/roles', { name: 'Testers' }));
  const path = `/roles/${role.id}`;
  await did('PATCH /roles/{id}', admin.patch(path, { name: 'Readers' }));
  for (const [part, id] of [
    ['resources/{resourceId}', resourceIds[0]],
    ['users/{userId}', userId],
  ] as const) {
    const assigned = `${path}/${part.split('/')[0]}/${id}`;
    await did(`POST /roles/{id}/${part}`, admin.post(assigned));
    await did(`DELETE /roles/{id}/${part}`, admin.delete(assigned));
  }
  await did('DELETE /roles/{id}', admin.delete(path));
}
