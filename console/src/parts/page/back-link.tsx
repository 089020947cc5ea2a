import { ArrowLeftOutlined } from '@ant-design/icons'
import { Link } from 'wouter'
import './back-link.css'
import { Cut } from '../text/cut.tsx'

export function BackLink({ href, children }: { href: string; children: string }) {
  return (
    <Link href={href} className="back-link">
      <ArrowLeftOutlined /> <Cut text={children} />
    </Link>
  )
}
