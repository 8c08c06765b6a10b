export { EXIT_CONFIGURATION, loadSettings, settingNames, SettingsError } from './load-settings';
export { certificateProblem, connectionProblem } from './certificate-problem';
export { issuerUrlOf } from './issuer-url';
export {
  DatabaseUrlSettings,
  DEPLOYMENT_ID,
  DEPLOYMENT_ID_MESSAGE,
  ServiceSettings,
} from './service.settings';
export { redisSentinels } from './redis-url';
export { toInteger, toList, trueOrFalse, wholeNumber } from './values';
export {
  ISSUER_URL,
  ISSUER_URL_MESSAGE,
  LISTEN_ADDRESS_MESSAGE,
  mailSender,
  postgresUrlProblem,
  publicUrlProblem,
  smtpUrlProblem,
  without,
} from './server-urls';
