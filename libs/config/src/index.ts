export { EXIT_CONFIGURATION, loadSettings, settingNames, SettingsError } from './load-settings';
export { toInteger, toList, toBoolean } from './transforms';
export {
  LISTEN_ADDRESS_WORDS,
  POSTGRES_URL,
  POSTGRES_URL_WORDS,
  REDIS_URL,
  REDIS_URL_WORDS,
} from './server-urls';
