select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."book" t1 left join "public"."person" t2 on t2."id" = t1."author" left join "public"."person" t3 on t3."id" = t2."boss" order by t3."name" desc, t1."id" limit 100) r
-- []
