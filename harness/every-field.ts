/** Fields of every type, as a file of sites declares them. */
export const everyField = [
  { name: 'company', label: 'Company', required: true, maxLength: 80 },
  { name: 'plan', label: 'Plan', type: 'choice', options: ['free', 'pro'], required: true },
  { name: 'country', type: 'choice', options: ['Austria', 'France', 'Italy', 'Spain', 'Wales'] },
  { name: 'seats', label: 'Seats', type: 'number', min: 1, max: 500 },
  { name: 'home', label: 'Web site', type: 'url' },
  { name: 'start', label: 'Begins on', type: 'date' },
  { name: 'phone', label: 'Phone', type: 'phone' },
  { name: 'news', label: 'Send me news', type: 'checkbox', required: true },
  { name: 'utm_source' },
]
