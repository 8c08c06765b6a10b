import type { MigrationInterface, QueryRunner } from 'typeorm';

/** New columns may be null: the release before writes rows without them while both run. */
export class SignInsDevicesInvitations1790100000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE users ADD invited_at timestamptz');
    await runner.query(
      `UPDATE users u SET invited_at = t.invited_at FROM (
         SELECT user_id, max(created_at) AS invited_at FROM account_tokens WHERE purpose = 'INVITE' GROUP BY user_id
       ) t WHERE t.user_id = u.id`,
    );
    await runner.query(
      `ALTER TABLE refresh_tokens ADD signed_in_at timestamptz, ADD superseded_at timestamptz, ADD ip_address text,
         ADD user_agent text`,
    );
    await runner.query(
      `CREATE TABLE known_devices (
         id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
         organization_id uuid NOT NULL,
         user_id uuid NOT NULL,
         token_hash text NOT NULL,
         created_at timestamptz NOT NULL DEFAULT now(),
         expires_at timestamptz NOT NULL,
         CONSTRAINT known_devices_token_hash_user_id_key UNIQUE (token_hash, user_id),
         CONSTRAINT known_devices_user_fkey FOREIGN KEY (organization_id, user_id)
           REFERENCES users (organization_id, id) ON DELETE CASCADE
       )`,
    );
    await runner.query('CREATE INDEX known_devices_user_id_idx ON known_devices (user_id, expires_at)');
    await runner.query('CREATE INDEX known_devices_expires_at_idx ON known_devices (expires_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE known_devices');
    await runner.query(
      `ALTER TABLE refresh_tokens DROP signed_in_at, DROP superseded_at, DROP ip_address, DROP user_agent`,
    );
    await runner.query('ALTER TABLE users DROP invited_at');
  }
}
