import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * One user's starts go one after the other from here to the commit: each counts what those before it have committed,
 * because every statement of a volatile function has a snapshot of its own. It counts live sessions only, through the
 * partial indexes that keep one live session for each address, and no further than the limit. 0 is no limit: then
 * nothing is counted, and starts do not wait for each other.
 */
const LIMIT_LIVE_SESSIONS = `CREATE FUNCTION limit_live_sessions(owner uuid, per_user integer, per_service_user integer)
  RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
  DECLARE
    for_service boolean;
    most integer;
    live bigint;
  BEGIN
    SELECT u.is_service INTO for_service FROM users u WHERE u.id = owner;
    most := CASE WHEN for_service THEN per_service_user ELSE per_user END;
    IF most = 0 THEN
      PERFORM FROM users u WHERE u.id = owner AND u.is_active FOR SHARE;
      RETURN FOUND;
    END IF;
    PERFORM FROM users u WHERE u.id = owner AND u.is_active FOR NO KEY UPDATE;
    IF NOT FOUND THEN
      RETURN false;
    END IF;
    SELECT count(*) INTO live FROM (
      (SELECT 1 FROM sessions s WHERE s.user_id = owner AND s.ipv4_address IS NOT NULL
         AND s.status IN ('PENDING', 'ACTIVE', 'PARTIAL'))
      UNION ALL
      (SELECT 1 FROM sessions s WHERE s.user_id = owner AND s.ipv6_address IS NOT NULL AND s.ipv4_address IS NULL
         AND s.status IN ('PENDING', 'ACTIVE', 'PARTIAL'))
      LIMIT most
    ) counted;
    IF live >= most THEN
      RAISE EXCEPTION 'The user has % live sessions', live
        USING ERRCODE = 'check_violation', CONSTRAINT = 'sessions_live_limit', DETAIL = CASE WHEN for_service THEN 'service user' ELSE 'user' END;
    END IF;
    RETURN true;
  END $$`;

export class LiveSessionLimits1790220000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(LIMIT_LIVE_SESSIONS);
    await runner.query(
      'ALTER TABLE organizations ADD require_detected_address boolean NOT NULL DEFAULT false',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE organizations DROP require_detected_address');
    await runner.query('DROP FUNCTION limit_live_sessions(uuid, integer, integer)');
  }
}
