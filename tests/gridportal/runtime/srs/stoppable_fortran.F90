! The program of stoppable.c in Fortran, for arrays of two dimensions: its a(n, m) is the array of m x n of the others.
!
! usage: stoppable_fortran FOLDER LAYOUT N M STEPS STOP_AT OUTPUT
program stoppable_fortran
    use gridportal_srs
#if defined(WITH_F08)
    use mpi_f08
#elif !defined(WITH_MPIF_H)
    use mpi
#endif
    implicit none
#ifdef WITH_MPIF_H
    include 'mpif.h'
#endif
    type(srs_session) :: srs
    character(len=1000) :: folder, layout, output, word
    integer(srs_size) :: whole(2), local(2), i, j
    integer(srs_size), allocatable :: rows(:), columns(:)
    double precision, allocatable, target :: a(:, :)
    integer, target :: step
    integer :: rank, ranks, last, stop_at, began, stopped, restart, ierror
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
    call get_command_argument(1, folder)
    call get_command_argument(2, layout)
    call get_command_argument(7, output)
    whole = [number(3), number(4)]
    last = number(5)
    stop_at = number(6)
#ifdef WITH_F08
    call srs_init(MPI_COMM_WORLD%MPI_VAL, folder, 0d0, srs, ierror)
#else
    call srs_init(MPI_COMM_WORLD, folder, 0d0, srs, ierror, every_calls=100, in_foreground=.false.)
#endif
    call need(ierror)
    call srs_local_shape(srs, layout, whole, local, ierror)
    call need(ierror)
    allocate (a(local(1), local(2)), rows(local(1)), columns(local(2)))
    call srs_places(srs, layout, whole, 1, rows, ierror)
    call need(ierror)
    call srs_places(srs, layout, whole, 2, columns, ierror)
    call need(ierror)
    do j = 1, local(2)
        do i = 1, local(1)
            a(i, j) = dble(rows(i) - 1 + whole(1) * (columns(j) - 1))
        end do
    end do
    step = 0
    call srs_register(srs, 'x', a, srs_double, whole, layout, ierror)
    call need(ierror)
    call srs_register(srs, 'step', step, srs_integer4, [integer(srs_size) ::], 'replicated', ierror)
    call need(ierror)
    call srs_register(srs, 'other', a(1:local(1):2, :), srs_double, whole, layout, ierror)
    if (ierror /= srs_input) error stop 'an array with gaps is to be refused'
    call srs_store_map(srs, ierror)
    call need(ierror)
    restart = srs_restart_value(srs)
    if (restart == 1) then
        a = 0
        call srs_read(srs, 'x', ierror, new_layout=layout)
        call need(ierror)
        call srs_read(srs, 'step', ierror)
        call need(ierror)
    end if
    began = step
    stopped = 0
    do while (step < last .and. stopped == 0)
        a = a * 1.0000001d0
        a = a + 0.1d0 * dble(step)
        step = step + 1
        if (step == stop_at .and. rank == ranks - 1) call srs_ask_stop(srs)
        stopped = srs_check_stop(srs)
    end do
    call srs_finish(srs, ierror)
    call need(ierror)
    call write_whole()
    if (rank == 0) print '(a,i0,a,i0,a,i0,a,i0,a)', '{"restart": ', restart, ', "began": ', began, ', "step": ', step, &
        ', "stopped": ', stopped, '}'
    call MPI_Finalize(ierror)

contains

    integer function number(place)
        integer, intent(in) :: place
        call get_command_argument(place, word)
        read (word, *) number
    end function number

    subroutine need(problem)
        integer, intent(in) :: problem
        integer :: ignored
        if (problem == srs_success) return
        print '(i0,1x,i0,1x,a)', rank, problem, trim(srs_message())
        call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
    end subroutine need

    subroutine write_whole()
        double precision, allocatable :: mine(:, :), every(:, :)
        integer :: unit
        allocate (mine(whole(1), whole(2)), every(whole(1), whole(2)))
        mine = 0
        mine(rows, columns) = a
        call MPI_Reduce(mine, every, size(mine), MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
        if (rank /= 0) return
        open (newunit=unit, file=trim(output), access='stream', form='unformatted', status='replace')
        write (unit) every
        close (unit)
    end subroutine write_whole

end program stoppable_fortran
