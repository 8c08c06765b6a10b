/** For `SET possible_since` of a rule observed absent: unchanged while a call in flight may still take effect. */
export const POSSIBLE_SINCE_IF_IN_FLIGHT = 'CASE WHEN in_flight_until > now() THEN possible_since END';
