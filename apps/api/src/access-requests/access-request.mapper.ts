import type { AccessRequestRow } from '#tenant-store';
import type { AccessRequestDto } from './dto/access-request.dto';

export const toAccessRequest = ({ dueAt, decisions, ...row }: AccessRequestRow): AccessRequestDto => ({
  ...row,
  decideBy: row.status === 'WAITING' ? dueAt : null,
  useBy: row.status === 'APPROVED' ? dueAt : null,
  decisions: decisions.map((one) => ({ ...one, decidedAt: new Date(one.decidedAt) })),
});
