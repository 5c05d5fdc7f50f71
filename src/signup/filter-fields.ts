/** The fields of forms that only the spam filter reads. They are no part of a signup. */

/** A field that people never see. What fills it is no person, or a browser against its settings. */
export const unseenField = 'rollcall_message'

/** The field with the service's signed time, which tells how long somebody took to fill in the form. */
export const stampField = 'rollcall_stamp'
