/** What remembered grants depend on. */
export const GRANT_VERSIONS = `
-- One row for each organization: changes with everything that decides who may start which session. It stays.
CREATE TABLE grant_versions (
  organization_id uuid PRIMARY KEY,
  version bigint NOT NULL
);

CREATE FUNCTION renew_grant_version() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    changed uuid;
  BEGIN
    IF TG_TABLE_NAME = 'organizations' THEN
      changed := NEW.id;
    ELSIF TG_OP = 'DELETE' THEN
      changed := OLD.organization_id;
    ELSE
      changed := NEW.organization_id;
    END IF;
    INSERT INTO grant_versions AS v VALUES (changed, current_transaction())
    ON CONFLICT (organization_id) DO UPDATE SET version = EXCLUDED.version WHERE v.version <> EXCLUDED.version;
    RETURN NULL;
  END $$;

-- Deferred: the version is locked last in a transaction, so that two changes cannot wait for each other. Frequent changes of
-- other columns do not count.
CREATE CONSTRAINT TRIGGER organizations_renew_grant_version AFTER UPDATE ON organizations
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION renew_grant_version();
CREATE CONSTRAINT TRIGGER api_keys_renew_grant_version
  AFTER UPDATE OF revoked_at, expires_at, scopes OR DELETE ON api_keys
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION renew_grant_version();
CREATE CONSTRAINT TRIGGER users_renew_grant_version
  AFTER UPDATE OF is_active, is_org_admin, is_service, email, name, platform_role, mfa_enabled OR DELETE ON users
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION renew_grant_version();
CREATE CONSTRAINT TRIGGER roles_renew_grant_version AFTER UPDATE OR DELETE ON roles
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION renew_grant_version();
CREATE CONSTRAINT TRIGGER role_users_renew_grant_version AFTER INSERT OR UPDATE OR DELETE ON role_users
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION renew_grant_version();
CREATE CONSTRAINT TRIGGER role_resources_renew_grant_version AFTER INSERT OR UPDATE OR DELETE ON role_resources
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION renew_grant_version();
CREATE CONSTRAINT TRIGGER resources_renew_grant_version AFTER INSERT OR DELETE ON resources
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION renew_grant_version();
CREATE CONSTRAINT TRIGGER resources_changed_renew_grant_version AFTER UPDATE ON resources
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.name IS DISTINCT FROM NEW.name
    OR OLD.is_active IS DISTINCT FROM NEW.is_active OR OLD.revision IS DISTINCT FROM NEW.revision
    OR OLD.target_id IS DISTINCT FROM NEW.target_id OR OLD.config IS DISTINCT FROM NEW.config
    OR OLD.deleted_at IS DISTINCT FROM NEW.deleted_at)
  EXECUTE FUNCTION renew_grant_version();
`;
