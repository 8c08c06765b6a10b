export { EXIT_CONFIGURATION, loadSettings, settingNames, SettingsError } from './load-settings';
export { toInteger, toList, toBoolean } from './transforms';
export {
  LISTEN_ADDRESS_MESSAGE,
  POSTGRES_URL,
  POSTGRES_URL_MESSAGE,
  REDIS_URL,
  REDIS_URL_MESSAGE,
} from './server-urls';
